"""Errors of stores: which are transient, their codes in TensorFlow, and retries."""

import errno
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

_Result = TypeVar("_Result")
CANCELLED, UNKNOWN, INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS = 1, 2, 3, 5, 6
PERMISSION_DENIED, FAILED_PRECONDITION, UNIMPLEMENTED, UNAVAILABLE = 7, 9, 12, 14
UNAUTHENTICATED = 16
# Drivers retry too, so that one attempt can take long: no attempt begins after the limit.
RETRY_DELAYS_SECS = (0.2, 0.5, 1.0, 2.0, 4.0)
MAX_RETRY_SECS = 30.0
# Classes of several network libraries, by name: they are not imported here.
_TRANSIENT_CLASSES = frozenset(
    (
        "ClientConnectionError",
        "ClientPayloadError",
        "ConnectionError",
        "FSTimeoutError",
        "HTTPClientError",
        "IncompleteRead",
        "ServiceRequestError",
        "ServiceResponseError",
        "SSHException",
        "TimeoutError",
    )
)
_CREDENTIAL_CLASSES = frozenset(
    (
        "ClientAuthenticationError",
        "CredentialRetrievalError",
        "NoCredentialsError",
        "PartialCredentialsError",
        "AuthenticationException",
    )
)
_CODES: tuple[tuple[type[BaseException], int], ...] = (
    (FileNotFoundError, NOT_FOUND),
    (FileExistsError, ALREADY_EXISTS),
    (PermissionError, PERMISSION_DENIED),
    (IsADirectoryError, FAILED_PRECONDITION),
    (NotADirectoryError, FAILED_PRECONDITION),
    (NotImplementedError, UNIMPLEMENTED),
    (ImportError, FAILED_PRECONDITION),
    (KeyboardInterrupt, CANCELLED),
    (SystemExit, CANCELLED),
)
# Of HTTP; some drivers leave them as they are.
_STATUSES = {
    301: INVALID_ARGUMENT,
    400: INVALID_ARGUMENT,
    401: UNAUTHENTICATED,
    403: PERMISSION_DENIED,
    404: NOT_FOUND,
    409: FAILED_PRECONDITION,
    412: FAILED_PRECONDITION,
    501: UNIMPLEMENTED,
}
_NEVER = (501, 505)  # The server does not have such requests.
REPLACED = "was replaced while it was read"
_PRECONDITION_ERRNOS = (errno.ENOTEMPTY, errno.EISDIR, errno.ENOTDIR)


class ReplacedError(Exception):
    """An object was replaced while it was read."""


def get_code(error: BaseException) -> int:
    """Returns TensorFlow's code of an error."""
    if isinstance(error, ReplacedError):
        return FAILED_PRECONDITION
    if _has_class(error, _CREDENTIAL_CLASSES) or _is_certificate_wrong(error):
        return UNAUTHENTICATED
    for kind, code in _CODES:
        if isinstance(error, kind):
            return code
    if is_transient(error):
        return UNAVAILABLE
    number = getattr(error, "errno", None)
    if number in _PRECONDITION_ERRNOS:
        return FAILED_PRECONDITION
    if number == errno.EINVAL or isinstance(error, ValueError) or _is_redirected(error):
        return INVALID_ARGUMENT
    statuses = filter(None, map(_get_status, _list_causes(error)))
    return _STATUSES.get(next(statuses, 0), UNKNOWN)


def is_transient(error: BaseException) -> bool:
    """Returns whether the same request may succeed later."""
    if _is_certificate_wrong(error) or _is_redirected(error):
        return False
    for cause in _list_causes(error):
        status = _get_status(cause)
        if status is not None:
            return (status >= 500 and status not in _NEVER) or status in (408, 429)
        if _has_class(cause, _TRANSIENT_CLASSES):
            return True
    return isinstance(error, ConnectionError) or getattr(error, "errno", None) in (
        errno.EBUSY,
        errno.EREMOTEIO if hasattr(errno, "EREMOTEIO") else errno.EBUSY,
    )


def is_precondition_failure(error: BaseException) -> bool:
    """Returns whether an object is not the one that a request expects."""
    return any(_get_status(cause) == 412 for cause in _list_causes(error))


def describe(error: BaseException) -> str:
    """Returns one line about an error, with its class where the text alone would be unclear."""
    # Azure's errors have the request, the time and the XML of the answer after their text.
    text = " ".join(str(error).partition("RequestId:")[0].split())
    if _has_class(error, _CREDENTIAL_CLASSES):
        return (
            f"no valid credentials ({type(error).__name__}: {text}). Set those of the store's "
            "driver in the environment or in its configuration file"
        )
    if isinstance(error, (FileNotFoundError, ReplacedError)):
        return text
    if getattr(error, "errno", None) == errno.EINVAL and text.endswith("Bad Request"):
        # The answer to such a request has no body.
        return (
            f"{text}. The usual reasons are expired credentials, a wrong region and a key of "
            "encryption that cannot be used"
        )
    if _is_redirected(error):
        return (
            "the store redirects requests (status 301). The usual reason is a bucket of another "
            "region: set AWS_REGION to that of the bucket"
        )
    return f"{type(error).__name__}: {text}"


def retry(action: Callable[[], _Result]) -> _Result:
    """Returns the result of an action, and repeats it after transient errors.

    Args:
      action: Sends requests that may be repeated.
    """
    deadline = time.monotonic() + MAX_RETRY_SECS
    for delay in RETRY_DELAYS_SECS:
        try:
            return action()
        except Exception as error:
            if not is_transient(error) or time.monotonic() + delay > deadline:
                raise
        time.sleep(delay)
    return action()


def _list_causes(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    for _ in range(5):
        if seen is None:
            return
        yield seen
        seen = seen.__cause__


def _has_class(error: BaseException, names: frozenset[str]) -> bool:
    return any(kind.__name__ in names for kind in type(error).__mro__)


def _is_certificate_wrong(error: BaseException) -> bool:
    return any("CERTIFICATE_VERIFY_FAILED" in str(cause) for cause in _list_causes(error))


def _is_redirected(error: BaseException) -> bool:
    """Returns whether a store sends requests elsewhere, to an address that it does not name."""
    # botocore looks for the region of the bucket until its stack is full.
    return any(
        _get_status(cause) == 301 or "maximum recursion depth" in str(cause)
        for cause in _list_causes(error)
    )


def _get_status(error: BaseException) -> int | None:
    """Returns the HTTP status of botocore's, azure's and aiohttp's errors."""
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        return status if isinstance(status, int) else None
    for name in ("status_code", "status"):
        status = getattr(error, name, None)
        if isinstance(status, int) and 100 <= status < 600:
            return status
    return None
