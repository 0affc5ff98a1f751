/* A file system of TensorFlow whose operations are functions of Python.
 *
 * TensorFlow loads this library by `tf.experimental.register_filesystem_plugin`. The structures of
 * its C interface are declared here (tests/remote/test_interface.py compares them with its header),
 * so that one library serves every release of TensorFlow and every Python. This file has blocks to
 * read, buffers to write and the gate at exit; Python (callbacks.py) has everything that knows a
 * store.
 *
 * No lock is held while a callback runs: a callback waits for the GIL, and TensorFlow calls some
 * operations in a thread that holds the GIL and could wait for that lock. */

#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

/* ---- TensorFlow's interface, ABI 0 ---- */

typedef struct TF_Status TF_Status;
typedef struct {
  void *plugin;
} Handle; /* TF_Filesystem, TF_RandomAccessFile and TF_WritableFile */
typedef struct {
  int64_t length;
  int64_t mtime_nsec;
  bool is_directory;
} FileStatistics;
typedef struct {
  void (*cleanup)(Handle *);
  int64_t (*read)(const Handle *, uint64_t offset, size_t, char *, TF_Status *);
} ReadOps;
typedef struct {
  void (*cleanup)(Handle *);
  void (*append)(const Handle *, const char *, size_t, TF_Status *);
  int64_t (*tell)(const Handle *, TF_Status *);
  void (*flush)(const Handle *, TF_Status *);
  void (*sync)(const Handle *, TF_Status *);
  void (*close)(const Handle *, TF_Status *);
} WriteOps;
typedef struct {
  void (*init)(Handle *, TF_Status *);
  void (*cleanup)(Handle *);
  void (*new_random_access_file)(const Handle *, const char *, Handle *, TF_Status *);
  void (*new_writable_file)(const Handle *, const char *, Handle *, TF_Status *);
  void (*new_appendable_file)(const Handle *, const char *, Handle *, TF_Status *);
  void (*new_read_only_memory_region_from_file)(const Handle *, const char *, Handle *,
                                                TF_Status *);
  void (*create_dir)(const Handle *, const char *, TF_Status *);
  void (*recursively_create_dir)(const Handle *, const char *, TF_Status *);
  void (*delete_file)(const Handle *, const char *, TF_Status *);
  void (*delete_dir)(const Handle *, const char *, TF_Status *);
  void (*delete_recursively)(const Handle *, const char *, uint64_t *, uint64_t *, TF_Status *);
  void (*rename_file)(const Handle *, const char *, const char *, TF_Status *);
  void (*copy_file)(const Handle *, const char *, const char *, TF_Status *);
  void (*path_exists)(const Handle *, const char *, TF_Status *);
  bool (*paths_exist)(const Handle *, char **, int, TF_Status **);
  void (*stat)(const Handle *, const char *, FileStatistics *, TF_Status *);
  bool (*is_directory)(const Handle *, const char *, TF_Status *);
  int64_t (*get_file_size)(const Handle *, const char *, TF_Status *);
  char *(*translate_name)(const Handle *, const char *);
  int (*get_children)(const Handle *, const char *, char ***, TF_Status *);
  int (*get_matching_paths)(const Handle *, const char *, char ***, TF_Status *);
  void (*flush_caches)(const Handle *);
  /* TensorFlow sets the entries that a shorter table lacks, transactions and options, to NULL. */
} FilesystemOps;
typedef struct {
  char *scheme;
  int filesystem_abi, filesystem_api;
  size_t filesystem_size;
  FilesystemOps *filesystem;
  int read_abi, read_api;
  size_t read_size;
  ReadOps *read;
  int write_abi, write_api;
  size_t write_size;
  WriteOps *write;
  int region_abi, region_api;
  size_t region_size;
  void *region;
} PluginOps;
typedef struct {
  size_t num_schemes;
  PluginOps *ops;
  void *(*allocate)(size_t);
  void (*free)(void *);
} PluginInfo;

enum {
  OK = 0,
  NOT_FOUND = 5,
  RESOURCE_EXHAUSTED = 8,
  FAILED_PRECONDITION = 9,
  OUT_OF_RANGE = 11,
  UNAVAILABLE = 14
};

/* ---- the functions of Python: each returns a code, and fills `error` if it is not OK ---- */

#define ERROR_BYTES 1024
typedef struct {
  int (*open_read)(const char *path, int64_t *file, int64_t *size, char *error);
  int (*read)(int64_t file, int64_t offset, int64_t bytes, int64_t read_ahead, void *buffer,
              int64_t *done, char *error);
  int (*refresh_size)(int64_t file, int64_t *size, char *error);
  int (*close_read)(int64_t file);
  int (*open_write)(const char *path, int append, int64_t *file, int64_t *position, char *error);
  int (*write)(int64_t file, int64_t offset, const void *data, int64_t bytes, char *error);
  int (*sync)(int64_t file, int how, char *error);
  int (*stat)(const char *path, int64_t *length, int64_t *mtime_nsec, int *is_directory,
              char *error);
  /* `names`: memory of remote_allocate, each name with a 0 at its end. */
  int (*list)(const char *path, int is_pattern, char **names, int64_t *count, char *error);
  int (*change)(const char *path, int what, const char *target, uint64_t *files,
                uint64_t *directories, char *error);
} Callbacks;
enum { FLUSH, SYNC, CLOSE, RELEASE };
enum { MAKE_DIR, MAKE_DIRS, DELETE_FILE, DELETE_DIR, DELETE_TREE, RENAME, COPY, FORGET };

/* Functions of CPython, by their names there. */
typedef struct {
  int (*PyGILState_Check)(void);
  void *(*PyEval_SaveThread)(void);
  void (*PyEval_RestoreThread)(void *);
  int (*PyGILState_Ensure)(void);
  void (*PyGILState_Release)(int);
  int (*PyErr_CheckSignals)(void);
  void (*PyErr_Fetch)(void **, void **, void **);
  void (*PyErr_Restore)(void *, void *, void *);
  int (*Py_AddPendingCall)(int (*)(void *), void *);
  void *(*PyEval_GetFrame)(void);
  void *(*PyFrame_GetCode)(void *);
  void *(*PyObject_GetAttrString)(void *, const char *);
  const char *(*PyUnicode_AsUTF8)(void *);
  void (*Py_DecRef)(void *);
} Interpreter;

static Callbacks python;
static Interpreter interpreter;
static pthread_t main_thread;
static void (*set_status)(TF_Status *, int, const char *);
static char schemes[4096];
/* registration.py looks for it: a library of another source has other callbacks. */
#ifndef REMOTE_SOURCE
#define REMOTE_SOURCE "unknown"
#endif
EXPORT const char remote_source[] = "source " REMOTE_SOURCE;
static int64_t max_read_memory, max_block;
static const int64_t MIN_BLOCK = 256 << 10;
static const int64_t FIRST_BLOCK = 1 << 20;
static const int64_t WRITE_BLOCK = 8 << 20;
/* A reader has its block and up to three that Python reads ahead. */
static const int BLOCKS_OF_A_READER = 4;

static atomic_int running_calls;
static atomic_int is_closed;
static atomic_int open_readers;
static atomic_long call_count;

EXPORT void *remote_allocate(size_t bytes) { return malloc(bytes ? bytes : 1); }
static void release(void *memory) { free(memory); }

/* `main_ident`: threading.main_thread().ident. */
EXPORT void remote_set_up(const Callbacks *callbacks, const Interpreter *functions,
                          void *set_status_function, uint64_t main_ident, int64_t read_memory,
                          int64_t block) {
  python = *callbacks;
  interpreter = *functions;
  set_status = (void (*)(TF_Status *, int, const char *))set_status_function;
  main_thread = (pthread_t)main_ident;
  max_read_memory = read_memory;
  max_block = block;
}
EXPORT void remote_set_schemes(const char *comma_separated) {
  snprintf(schemes, sizeof schemes, "%s", comma_separated);
}
EXPORT int64_t remote_call_count(void) { return atomic_load(&call_count); }

static int enter(char *error) {
  error[0] = '\0';
  atomic_fetch_add(&running_calls, 1);
  if (!atomic_load(&is_closed)) {
    atomic_fetch_add(&call_count, 1);
    return 1;
  }
  atomic_fetch_sub(&running_calls, 1);
  snprintf(error, ERROR_BYTES, "Python, which serves this file system, has ended");
  return 0;
}

static int leave(int code) {
  atomic_fetch_sub(&running_calls, 1);
  return code;
}

/* ---- calls of Python ---- */

enum operation { OPEN_READ, READ, REFRESH_SIZE, CLOSE_READ, OPEN_WRITE, WRITE, SYNCHRONIZE, STAT,
                 LIST, CHANGE };
typedef struct {
  enum operation operation;
  intptr_t numbers[4];
  void *pointers[3];
  char *error;
  int code;
  bool is_done;
  pthread_mutex_t lock; /* of is_done */
  pthread_cond_t done;
} Call;

static int run(const Call *call) {
  const intptr_t *n = call->numbers;
  void *const *p = call->pointers;
  char *error = call->error;
  switch (call->operation) {
    case OPEN_READ: return python.open_read((const char *)n[0], p[0], p[1], error);
    case READ: return python.read(n[0], n[1], n[2], n[3], p[0], p[1], error);
    case REFRESH_SIZE: return python.refresh_size(n[0], p[0], error);
    case CLOSE_READ: return python.close_read(n[0]);
    case OPEN_WRITE: return python.open_write((const char *)n[0], (int)n[1], p[0], p[1], error);
    case WRITE: return python.write(n[0], n[1], (const void *)n[2], n[3], error);
    case SYNCHRONIZE: return python.sync(n[0], (int)n[1], error);
    case STAT: return python.stat((const char *)n[0], p[0], p[1], p[2], error);
    case LIST: return python.list((const char *)n[0], (int)n[1], p[0], p[1], error);
    case CHANGE:
      return python.change((const char *)n[0], (int)n[1], (const char *)n[2], p[0], p[1], error);
  }
  return UNAVAILABLE;
}

static void *run_in_thread(void *pointer) {
  Call *call = pointer;
  call->code = run(call);
  pthread_mutex_lock(&call->lock);
  call->is_done = true;
  pthread_cond_signal(&call->done);
  pthread_mutex_unlock(&call->lock);
  return NULL;
}

static bool wait_for_call(Call *call, int milliseconds) {
  struct timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_nsec += milliseconds * 1000000L;
  deadline.tv_sec += deadline.tv_nsec / 1000000000L;
  deadline.tv_nsec %= 1000000000L;
  pthread_mutex_lock(&call->lock);
  int failure = 0;
  while (!call->is_done && failure == 0)
    failure = pthread_cond_timedwait(&call->done, &call->lock, &deadline);
  bool is_done = call->is_done;
  pthread_mutex_unlock(&call->lock);
  return is_done;
}

/* An exception of a signal handler, such as KeyboardInterrupt; the GIL guards it. The main thread
 * raises it shortly after TensorFlow has returned: an error of TensorFlow that another exception
 * interrupts at its creation becomes a RuntimeError. */
static void *interruption[3];
static void raise_soon(void);

static bool is_creating_error(void) {
  void *frame = interpreter.PyEval_GetFrame();
  if (frame == NULL) return false;
  void *code = interpreter.PyFrame_GetCode(frame);
  void *file = interpreter.PyObject_GetAttrString(code, "co_filename");
  const char *name = file == NULL ? NULL : interpreter.PyUnicode_AsUTF8(file);
  bool result = name != NULL && strstr(name, "errors_impl.py") != NULL;
  interpreter.Py_DecRef(file);
  interpreter.Py_DecRef(code);
  return result;
}
static int raise_interruption(void *ignored) {
  (void)ignored;
  if (interruption[0] == NULL) return 0;
  if (is_creating_error()) {
    raise_soon();
    return 0;
  }
  interpreter.PyErr_Restore(interruption[0], interruption[1], interruption[2]);
  interruption[0] = NULL;
  return -1;
}
static void *wait_and_raise(void *ignored) {
  (void)ignored;
  const struct timespec pause = {0, 20000000};
  nanosleep(&pause, NULL);
  if (!atomic_load(&is_closed)) interpreter.Py_AddPendingCall(raise_interruption, NULL);
  return NULL;
}
static void raise_soon(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, wait_and_raise, NULL) == 0) pthread_detach(thread);
}

/* Runs the handlers of signals that came, and returns whether one has raised an exception. */
static bool handle_signals(void) {
  int state = interpreter.PyGILState_Ensure();
  bool has_raised = interpreter.PyErr_CheckSignals() < 0;
  if (has_raised)
    interpreter.PyErr_Fetch(&interruption[0], &interruption[1], &interruption[2]);
  interpreter.PyGILState_Release(state);
  return has_raised;
}

/* Calls Python. The main thread has another thread do so: an exception of a signal handler must not
 * end the function halfway, which Python can neither prevent nor report to C. */
static int call_python(Call *call, char *error) {
  pthread_t thread;
  call->error = error;
  if (!enter(error)) return UNAVAILABLE;
  if (!pthread_equal(pthread_self(), main_thread)) return leave(run(call));
  pthread_mutex_init(&call->lock, NULL);
  pthread_cond_init(&call->done, NULL);
  bool has_raised = false;
  void *state = interpreter.PyGILState_Check() ? interpreter.PyEval_SaveThread() : NULL;
  if (pthread_create(&thread, NULL, run_in_thread, call) == 0) {
    while (!wait_for_call(call, 50)) has_raised |= handle_signals();
    pthread_join(thread, NULL);
  } else {
    call->code = run(call);
  }
  has_raised |= handle_signals();
  if (has_raised) raise_soon();
  if (state != NULL) interpreter.PyEval_RestoreThread(state);
  pthread_cond_destroy(&call->done);
  pthread_mutex_destroy(&call->lock);
  return leave(call->code);
}
#define NUMBERS(...) .numbers = {__VA_ARGS__}
#define POINTERS(...) .pointers = {__VA_ARGS__}
#define CALL(what, ...) call_python(&(Call){.operation = (what), __VA_ARGS__}, error)

/* ---- files to read ---- */

typedef struct {
  int64_t file, size;
  pthread_mutex_t lock; /* of all below */
  char *block;
  int64_t offset, length;
  int64_t next;   /* where a sequential reader continues */
  bool fills_slowly;
} Reader;

/* TensorFlow reads TFRecords of s3:// by this size, in a buffer for each file. A shorter answer
 * touches less of the buffer, and the stream above it asks for the rest. */
static const int64_t TFRECORD_BUFFER = 127 << 20;

static int64_t limit_block(void) {
  int readers = atomic_load(&open_readers);
  int64_t limit = max_read_memory / (BLOCKS_OF_A_READER * (readers ? readers : 1));
  return limit < MIN_BLOCK ? MIN_BLOCK : limit > max_block ? max_block : limit;
}

static void reader_cleanup(Handle *handle) {
  Reader *reader = handle->plugin;
  char error[ERROR_BYTES];
  if (reader == NULL) return;
  CALL(CLOSE_READ, NUMBERS(reader->file));
  atomic_fetch_sub(&open_readers, 1);
  pthread_mutex_destroy(&reader->lock);
  free(reader->block);
  free(reader);
  handle->plugin = NULL;
}

/* Copies from the block, and returns the number of bytes. */
static int64_t copy_from_block(Reader *reader, int64_t at, int64_t bytes, char *out) {
  int64_t available = 0;
  pthread_mutex_lock(&reader->lock);
  if (reader->block != NULL && at >= reader->offset && at < reader->offset + reader->length) {
    available = reader->offset + reader->length - at;
    if (available > bytes) available = bytes;
    memcpy(out, reader->block + (at - reader->offset), available);
  }
  pthread_mutex_unlock(&reader->lock);
  return available;
}

/* Returns the bytes to read at an offset, and the size of the blocks that Python reads ahead: 0 for
 * a reader that is not sequential. */
static int64_t choose_window(Reader *reader, int64_t at, int64_t size, int64_t *read_ahead) {
  int64_t limit = limit_block();
  pthread_mutex_lock(&reader->lock);
  bool is_sequential = at == reader->next;
  pthread_mutex_unlock(&reader->lock);
  int64_t window = !is_sequential ? MIN_BLOCK : at == 0 ? FIRST_BLOCK : limit;
  if (window > limit) window = limit;
  *read_ahead = is_sequential ? limit : 0;
  return window > size - at ? size - at : window;
}

/* Reads a block at an offset into memory of its own, then puts it in place. */
static int read_block(Reader *reader, int64_t at, int64_t bytes, int64_t size, int64_t *done,
                      char *error) {
  int64_t read_ahead, window = choose_window(reader, at, size, &read_ahead);
  if (window < bytes) window = bytes;
  char *block = malloc(window);
  int code;
  *done = 0;
  if (block == NULL) {
    snprintf(error, ERROR_BYTES, "no memory for a block of %lld bytes", (long long)window);
    return RESOURCE_EXHAUSTED;
  }
  code = CALL(READ, NUMBERS(reader->file, at, window, read_ahead), POINTERS(block, done));
  if (code != OK || *done <= 0) {
    free(block);
    return code;
  }
  pthread_mutex_lock(&reader->lock);
  free(reader->block);
  reader->block = block;
  reader->offset = at;
  reader->length = *done;
  reader->next = at + *done;
  pthread_mutex_unlock(&reader->lock);
  return OK;
}

/* Reads into the caller's memory. */
static int read_directly(Reader *reader, int64_t at, int64_t bytes, int64_t read_ahead, char *out,
                         int64_t *done, char *error) {
  *done = 0;
  int code = CALL(READ, NUMBERS(reader->file, at, bytes, read_ahead), POINTERS(out, done));
  pthread_mutex_lock(&reader->lock);
  reader->next = at + *done;
  pthread_mutex_unlock(&reader->lock);
  return code;
}

static int refresh_size(Reader *reader, int64_t *size, char *error) {
  int code = CALL(REFRESH_SIZE, NUMBERS(reader->file), POINTERS(size));
  if (code == OK) {
    pthread_mutex_lock(&reader->lock);
    reader->size = *size;
    pthread_mutex_unlock(&reader->lock);
  }
  return code;
}

static int64_t reader_read(const Handle *handle, uint64_t offset, size_t bytes, char *out,
                           TF_Status *status) {
  Reader *reader = handle->plugin;
  char error[ERROR_BYTES] = "";
  int64_t done = 0, got = 0, wanted = (int64_t)bytes;
  pthread_mutex_lock(&reader->lock);
  int64_t size = reader->size;
  pthread_mutex_unlock(&reader->lock);
  bool may_be_short = reader->fills_slowly && wanted == TFRECORD_BUFFER &&
                      !(offset == 0 && size == TFRECORD_BUFFER);
  while (done < wanted) {
    int64_t at = (int64_t)offset + done, left = wanted - done;
    int code = OK;
    got = copy_from_block(reader, at, left, out + done);
    done += got;
    if (got > 0 && may_be_short) break;
    if (got > 0) continue;
    if (at >= size) { /* The file may have grown. */
      code = refresh_size(reader, &size, error);
      if (code == OK && at >= size) break;
    }
    if (code == OK && left > size - at) left = size - at;
    if (code != OK) {
      got = 0;
    } else if (may_be_short) { /* At most the buffer; `done` is 0. */
      int64_t read_ahead, window = choose_window(reader, at, size, &read_ahead);
      code = read_directly(reader, at, window, read_ahead, out, &got, error);
    } else if (left < max_block) {
      code = read_block(reader, at, left, size, &got, error);
      if (code == OK && got > 0) continue;
    } else {
      code = read_directly(reader, at, left, 0, out + done, &got, error);
    }
    if (code != OK) {
      set_status(status, code, error);
      return -1;
    }
    if (got <= 0) break;
    done += got;
    if (may_be_short) break;
  }
  if (done == wanted || (may_be_short && done > 0))
    set_status(status, OK, "");
  else
    set_status(status, OUT_OF_RANGE, "end of file");
  return done;
}

static void filesystem_open_read(const Handle *filesystem, const char *path, Handle *handle,
                                 TF_Status *status) {
  (void)filesystem;
  char error[ERROR_BYTES];
  int code;
  Reader *reader = calloc(1, sizeof *reader);
  if (reader == NULL) {
    set_status(status, RESOURCE_EXHAUSTED, "no memory for a file");
    return;
  }
  code = CALL(OPEN_READ, NUMBERS((intptr_t)path), POINTERS(&reader->file, &reader->size));
  if (code != OK) {
    free(reader);
    set_status(status, code, error);
    return;
  }
  pthread_mutex_init(&reader->lock, NULL);
  /* A tensor of exactly that size must come at once. */
  reader->fills_slowly = strstr(path, ".data-0") == NULL;
  atomic_fetch_add(&open_readers, 1);
  handle->plugin = reader;
  set_status(status, OK, "");
}

/* ---- files to write ---- */

typedef struct Writer {
  int64_t file;
  pthread_mutex_t lock; /* of the next five */
  int64_t position;     /* with the buffer */
  int64_t sent;         /* without it */
  char *buffer;
  int64_t length, room;
  int references; /* the next three: lock of the list */
  struct Writer *previous, *next;
} Writer;
static Writer writers = {.previous = &writers, .next = &writers};
static pthread_mutex_t writers_lock = PTHREAD_MUTEX_INITIALIZER;

static void drop_writer(Writer *writer) {
  pthread_mutex_lock(&writers_lock);
  int left = --writer->references;
  if (left == 0) {
    writer->previous->next = writer->next;
    writer->next->previous = writer->previous;
  }
  pthread_mutex_unlock(&writers_lock);
  if (left > 0) return;
  pthread_mutex_destroy(&writer->lock);
  free(writer->buffer);
  free(writer);
}

/* Gives Python the buffer. Two threads may do so at once: Python orders them by their offsets. */
static int send_buffer(Writer *writer, char *error) {
  int code = OK;
  error[0] = '\0';
  pthread_mutex_lock(&writer->lock);
  char *buffer = writer->buffer;
  int64_t bytes = writer->length, offset = writer->sent;
  writer->buffer = NULL;
  writer->length = writer->room = 0;
  writer->sent += bytes;
  pthread_mutex_unlock(&writer->lock);
  if (bytes > 0)
    code = CALL(WRITE, NUMBERS(writer->file, offset, (intptr_t)buffer, bytes));
  free(buffer);
  return code;
}

static void writer_append(const Handle *handle, const char *data, size_t bytes,
                          TF_Status *status) {
  Writer *writer = handle->plugin;
  char error[ERROR_BYTES] = "";
  int code = OK;
  pthread_mutex_lock(&writer->lock);
  int64_t needed = writer->length + (int64_t)bytes;
  if (needed > writer->room) {
    int64_t room = writer->room * 2 > 4096 ? writer->room * 2 : 4096;
    if (room < needed) room = needed;
    char *larger = realloc(writer->buffer, room);
    if (larger == NULL) {
      pthread_mutex_unlock(&writer->lock);
      set_status(status, RESOURCE_EXHAUSTED, "no memory for a buffer");
      return;
    }
    writer->buffer = larger;
    writer->room = room;
  }
  memcpy(writer->buffer + writer->length, data, bytes);
  writer->length = needed;
  writer->position += (int64_t)bytes;
  pthread_mutex_unlock(&writer->lock);
  if (needed >= WRITE_BLOCK) code = send_buffer(writer, error);
  set_status(status, code, error);
}

static int64_t writer_tell(const Handle *handle, TF_Status *status) {
  Writer *writer = handle->plugin;
  pthread_mutex_lock(&writer->lock);
  int64_t position = writer->position;
  pthread_mutex_unlock(&writer->lock);
  set_status(status, OK, "");
  return position;
}

static int send_and_sync(Writer *writer, int how, char *error) {
  int code = send_buffer(writer, error);
  if (code == OK) code = CALL(SYNCHRONIZE, NUMBERS(writer->file, how));
  return code;
}
static void sync_with_status(const Handle *handle, int how, TF_Status *status) {
  char error[ERROR_BYTES];
  int code = send_and_sync(handle->plugin, how, error);
  set_status(status, code, error);
}
static void writer_flush(const Handle *handle, TF_Status *status) {
  sync_with_status(handle, FLUSH, status);
}
static void writer_sync(const Handle *handle, TF_Status *status) {
  sync_with_status(handle, SYNC, status);
}
static void writer_close(const Handle *handle, TF_Status *status) {
  sync_with_status(handle, CLOSE, status);
}
static void writer_cleanup(Handle *handle) {
  char error[ERROR_BYTES];
  if (handle->plugin == NULL) return;
  send_and_sync(handle->plugin, RELEASE, error);
  drop_writer(handle->plugin);
  handle->plugin = NULL;
}

static void open_writer(const char *path, int append, Handle *handle, TF_Status *status) {
  char error[ERROR_BYTES];
  int code;
  Writer *writer = calloc(1, sizeof *writer);
  if (writer == NULL) {
    set_status(status, RESOURCE_EXHAUSTED, "no memory for a file");
    return;
  }
  code = CALL(OPEN_WRITE, NUMBERS((intptr_t)path, append),
              POINTERS(&writer->file, &writer->position));
  if (code != OK) {
    free(writer);
    set_status(status, code, error);
    return;
  }
  writer->sent = writer->position;
  writer->references = 1;
  pthread_mutex_init(&writer->lock, NULL);
  pthread_mutex_lock(&writers_lock);
  writer->next = &writers;
  writer->previous = writers.previous;
  writer->previous->next = writers.previous = writer;
  pthread_mutex_unlock(&writers_lock);
  handle->plugin = writer;
  set_status(status, OK, "");
}
static void filesystem_open_write(const Handle *filesystem, const char *path, Handle *handle,
                                  TF_Status *status) {
  (void)filesystem;
  open_writer(path, 0, handle, status);
}
static void filesystem_open_append(const Handle *filesystem, const char *path, Handle *handle,
                                   TF_Status *status) {
  (void)filesystem;
  open_writer(path, 1, handle, status);
}

/* ---- the file system ---- */

static void filesystem_init(Handle *handle, TF_Status *status) {
  handle->plugin = NULL;
  set_status(status, OK, "");
}
static void filesystem_cleanup(Handle *handle) { (void)handle; }

static void change(int what, const char *path, const char *target, uint64_t *files,
                   uint64_t *directories, TF_Status *status) {
  char error[ERROR_BYTES];
  uint64_t ignored = 0;
  int code = CALL(CHANGE, NUMBERS((intptr_t)path, what, (intptr_t)target),
                  POINTERS(files ? files : &ignored, directories ? directories : &ignored));
  set_status(status, code, error);
}
#define CHANGES(name, what)                                                             \
  static void name(const Handle *filesystem, const char *path, TF_Status *status) {     \
    (void)filesystem;                                                                   \
    change(what, path, "", NULL, NULL, status);                                         \
  }
CHANGES(filesystem_make_dir, MAKE_DIR)
CHANGES(filesystem_make_dirs, MAKE_DIRS)
CHANGES(filesystem_delete_file, DELETE_FILE)
CHANGES(filesystem_delete_dir, DELETE_DIR)
static void filesystem_delete_tree(const Handle *filesystem, const char *path, uint64_t *files,
                                   uint64_t *directories, TF_Status *status) {
  (void)filesystem;
  *files = *directories = 0;
  change(DELETE_TREE, path, "", files, directories, status);
}
static void filesystem_rename(const Handle *filesystem, const char *path, const char *target,
                              TF_Status *status) {
  (void)filesystem;
  change(RENAME, path, target, NULL, NULL, status);
}
static void filesystem_copy(const Handle *filesystem, const char *path, const char *target,
                            TF_Status *status) {
  (void)filesystem;
  change(COPY, path, target, NULL, NULL, status);
}
static void filesystem_flush_caches(const Handle *filesystem) {
  (void)filesystem;
  char error[ERROR_BYTES];
  uint64_t ignored = 0;
  CALL(CHANGE, NUMBERS((intptr_t)"", FORGET, (intptr_t)""), POINTERS(&ignored, &ignored));
}

static int get_statistics(const char *path, FileStatistics *found, char *error) {
  int is_directory = 0;
  found->length = found->mtime_nsec = 0;
  int code = CALL(STAT, NUMBERS((intptr_t)path),
                  POINTERS(&found->length, &found->mtime_nsec, &is_directory));
  found->is_directory = is_directory;
  return code;
}
static void filesystem_exists(const Handle *filesystem, const char *path, TF_Status *status) {
  (void)filesystem;
  char error[ERROR_BYTES];
  FileStatistics found;
  int code = get_statistics(path, &found, error);
  set_status(status, code, error);
}
static void filesystem_stat(const Handle *filesystem, const char *path, FileStatistics *out,
                            TF_Status *status) {
  (void)filesystem;
  char error[ERROR_BYTES];
  FileStatistics found;
  int code = get_statistics(path, &found, error);
  if (code == OK) *out = found;
  set_status(status, code, error);
}
/* TensorFlow reads the status, not the result. */
static bool filesystem_is_directory(const Handle *filesystem, const char *path,
                                    TF_Status *status) {
  (void)filesystem;
  char error[ERROR_BYTES];
  FileStatistics found;
  int code = get_statistics(path, &found, error);
  if (code == OK && !found.is_directory) {
    code = FAILED_PRECONDITION;
    snprintf(error, sizeof error, "%s is not a directory", path);
  }
  set_status(status, code, error);
  return code == OK;
}
static int64_t filesystem_size(const Handle *filesystem, const char *path, TF_Status *status) {
  (void)filesystem;
  char error[ERROR_BYTES];
  FileStatistics found;
  int code = get_statistics(path, &found, error);
  if (code == OK && found.is_directory) {
    code = FAILED_PRECONDITION;
    snprintf(error, sizeof error, "%s is a directory", path);
  }
  set_status(status, code, error);
  return code == OK ? found.length : -1;
}

/* Removes repeated slashes and those at the end. TensorFlow's own function drops the scheme. */
static char *filesystem_translate(const Handle *filesystem, const char *path) {
  (void)filesystem;
  char *result = malloc(strlen(path) + 1);
  const char *separator = strstr(path, "://");
  size_t head = separator == NULL ? 0 : (size_t)(separator - path) + 3;
  char *start = result + head, *end = start;
  memcpy(result, path, head);
  for (const char *letter = path + head; *letter != '\0'; letter++)
    if (!(*letter == '/' && end > start && end[-1] == '/')) *end++ = *letter;
  while (end > start + 1 && end[-1] == '/') end--;
  *end = '\0';
  return result;
}

static int list(const char *path, int is_pattern, char ***entries, TF_Status *status) {
  char error[ERROR_BYTES], *names = NULL;
  int64_t count = 0;
  int code = CALL(LIST, NUMBERS((intptr_t)path, is_pattern), POINTERS(&names, &count));
  set_status(status, code, error);
  *entries = NULL;
  if (code != OK) {
    free(names);
    return -1;
  }
  *entries = malloc(sizeof(char *) * (count ? count : 1));
  const char *name = names;
  for (int64_t i = 0; i < count; i++) {
    (*entries)[i] = strdup(name);
    name += strlen(name) + 1;
  }
  free(names);
  return (int)count;
}
static int filesystem_children(const Handle *filesystem, const char *path, char ***entries,
                               TF_Status *status) {
  (void)filesystem;
  return list(path, 0, entries, status);
}
/* TensorFlow's own function waits for threads that would wait for the GIL of its caller. */
static int filesystem_matches(const Handle *filesystem, const char *pattern, char ***entries,
                              TF_Status *status) {
  (void)filesystem;
  return list(pattern, 1, entries, status);
}

/* ---- the end of the process, and processes that it forks ---- */

/* Gives Python the buffer of an open writer. */
EXPORT void remote_send_buffer(int64_t file) {
  char error[ERROR_BYTES];
  pthread_mutex_lock(&writers_lock);
  Writer *writer = writers.next;
  while (writer != &writers && writer->file != file) writer = writer->next;
  if (writer != &writers) writer->references++;
  pthread_mutex_unlock(&writers_lock);
  if (writer == &writers) return;
  send_buffer(writer, error);
  drop_writer(writer);
}

/* Refuses further calls, waits for those that run, and returns how many still do. The caller does
 * not hold the GIL. */
EXPORT int remote_close(int timeout_ms) {
  const struct timespec millisecond = {0, 1000000};
  atomic_store(&is_closed, 1);
  for (int i = 0; i < timeout_ms && atomic_load(&running_calls) > 0; i++)
    nanosleep(&millisecond, NULL);
  return atomic_load(&running_calls);
}

/* Threads of the parent do not exist in the child. */
static void reset_in_child(void) {
  pthread_mutex_init(&writers_lock, NULL);
  atomic_store(&running_calls, 0);
  main_thread = pthread_self();
}
__attribute__((constructor)) static void on_load(void) {
  pthread_atfork(NULL, NULL, reset_in_child);
}

/* ---- registration ---- */

static void *copy(const void *table, size_t bytes) {
  void *result = malloc(bytes);
  memcpy(result, table, bytes);
  return result;
}

EXPORT void TF_InitPlugin(PluginInfo *info) {
  static const FilesystemOps filesystem = {.init = filesystem_init,
                                           .cleanup = filesystem_cleanup,
                                           .new_random_access_file = filesystem_open_read,
                                           .new_writable_file = filesystem_open_write,
                                           .new_appendable_file = filesystem_open_append,
                                           .create_dir = filesystem_make_dir,
                                           .recursively_create_dir = filesystem_make_dirs,
                                           .delete_file = filesystem_delete_file,
                                           .delete_dir = filesystem_delete_dir,
                                           .delete_recursively = filesystem_delete_tree,
                                           .rename_file = filesystem_rename,
                                           .copy_file = filesystem_copy,
                                           .path_exists = filesystem_exists,
                                           .stat = filesystem_stat,
                                           .is_directory = filesystem_is_directory,
                                           .get_file_size = filesystem_size,
                                           .translate_name = filesystem_translate,
                                           .get_children = filesystem_children,
                                           .get_matching_paths = filesystem_matches,
                                           .flush_caches = filesystem_flush_caches};
  static const ReadOps read = {.cleanup = reader_cleanup, .read = reader_read};
  static const WriteOps write = {.cleanup = writer_cleanup,
                                 .append = writer_append,
                                 .tell = writer_tell,
                                 .flush = writer_flush,
                                 .sync = writer_sync,
                                 .close = writer_close};
  char *names = strdup(schemes), *rest = NULL;
  size_t count = 1;
  for (const char *letter = names; *letter != '\0'; letter++) count += *letter == ',';
  PluginOps *ops = calloc(count, sizeof *ops);
  count = 0;
  for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
    ops[count].scheme = strdup(name);
    ops[count].filesystem_size = sizeof filesystem;
    ops[count].filesystem = copy(&filesystem, sizeof filesystem);
    ops[count].read_size = sizeof read;
    ops[count].read = copy(&read, sizeof read);
    ops[count].write_size = sizeof write;
    ops[count].write = copy(&write, sizeof write);
    count++;
  }
  free(names);
  info->num_schemes = count;
  info->ops = ops;
  info->allocate = remote_allocate;
  info->free = release;
}
