/* Preloaded into the processes of a launched cluster: its servers listen on loopback alone.
 *
 * TensorFlow's servers ask for every interface of a machine, and have no setting for it. A socket
 * that is bound to every interface at a port of ESTIMATOR_TRAIN_LOOPBACK_PORTS ("15001,15002") gets
 * the loopback interface in its place; all others are bound as they ask. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static int is_of_cluster(in_port_t port) {
  const char *ports = getenv("ESTIMATOR_TRAIN_LOOPBACK_PORTS");
  while (ports != NULL && *ports != '\0') {
    if (strtol(ports, NULL, 10) == ntohs(port)) return 1;
    ports = strchr(ports, ',');
    if (ports != NULL) ports++;
  }
  return 0;
}

static void set_loopback_v4(struct sockaddr_in *address) {
  if (address->sin_addr.s_addr == htonl(INADDR_ANY) && is_of_cluster(address->sin_port))
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}

static void set_loopback_v6(struct sockaddr_in6 *address, int socket) {
  struct in6_addr any_v4, loopback_v4;
  int v6_only = 0;
  socklen_t size = sizeof v6_only;
  inet_pton(AF_INET6, "::ffff:0.0.0.0", &any_v4);
  inet_pton(AF_INET6, "::ffff:127.0.0.1", &loopback_v4);
  if (!IN6_IS_ADDR_UNSPECIFIED(&address->sin6_addr) &&
      memcmp(&address->sin6_addr, &any_v4, sizeof any_v4) != 0)
    return;
  if (!is_of_cluster(address->sin6_port)) return;
  getsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &v6_only, &size);
  address->sin6_addr = v6_only ? in6addr_loopback : loopback_v4;
}

int bind(int socket, const struct sockaddr *address, socklen_t length) {
  int (*original)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "bind");
  union {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
  } changed;
  if (address == NULL || length < sizeof changed.any || length > sizeof changed)
    return original(socket, address, length);
  memcpy(&changed, address, length);
  if (address->sa_family == AF_INET) set_loopback_v4(&changed.v4);
  if (address->sa_family == AF_INET6 && length == sizeof changed.v6)
    set_loopback_v6(&changed.v6, socket);
  return original(socket, &changed.any, length);
}
