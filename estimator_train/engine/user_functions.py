"""Calling a user's functions: with the arguments that they take, and on replicas by AutoGraph.

On replicas a user's functions are converted, and `if tensor:` works in them. So it was in
tf.estimator, and nowhere else: what is called without replicas stays as it is.
"""

import contextvars
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_train.engine import tf_internals

_LOG = tf.get_logger()
_NAMED = (
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)
# TensorFlow would convert each function between its own and the user's: hundreds of this package,
# at most of the time that it takes to make a graph.
tf_internals.never_convert("estimator_train")
_on_replica = contextvars.ContextVar("on_replica", default=False)
# These call what they are given, where the others first have it converted.
_WITHOUT_REPLICAS = (tf.distribute.OneDeviceStrategy, tf.compat.v1.distribute.OneDeviceStrategy)
_MODEL_FN_ARGUMENTS = frozenset({"features", "labels", "mode", "params", "self", "config"})


def argument_names(fn: Callable[..., Any]) -> tuple[str, ...]:
    """Returns the names of the arguments that a caller can still give to `fn`.

    Args:
      fn: A function, lambda, bound method, callable object or `functools.partial` of these. What a
        partial already holds, by position or by name, is left out.

    Raises:
      TypeError: `fn` cannot be called.
    """
    if not callable(fn):
        raise TypeError(
            f"unsupported callable: expected a function or a callable object, got {fn!r} of type "
            f"{type(fn).__name__}."
        )
    held: set[str] = set()
    while isinstance(fn, functools.partial):
        # A partial keeps its keywords in the signature, with new defaults: they are given already.
        held |= set(fn.keywords)
        positional = argument_names(fn.func)[: len(fn.args)]
        held |= set(positional)
        fn = fn.func
    parameters = _signature(fn).parameters.values()
    return tuple(p.name for p in parameters if p.kind in _NAMED and p.name not in held)


def call_with_known(
    fn: Callable[..., Any],
    available: Mapping[str, Any],
    fallbacks: Mapping[str, Any] | None = None,
    untaken: Mapping[str, str] | None = None,
) -> Any:
    """Calls a function with those arguments that it names.

    Args:
      fn: The function.
      available: Values of arguments by their names.
      fallbacks: The same for arguments that keep a default of the function's, if they have one.
      untaken: By the names of arguments that it must take, the message of the error if it does not.

    Raises:
      ValueError: It does not take an argument of `untaken`.
    """
    needed = {name: value for name, value in (fallbacks or {}).items() if requires(fn, name)}
    names = argument_names(fn)
    for name, message in (untaken or {}).items():
        if name not in names:
            raise ValueError(message)
    known = {name: value for name, value in {**needed, **available}.items() if name in names}
    return user_function(fn)(**known)


def requires(fn: Callable[..., Any], name: str) -> bool:
    """Whether `fn` has an argument `name` without a default."""
    parameter = _signature(fn).parameters.get(name)
    return parameter is not None and parameter.default is inspect.Parameter.empty


def _signature(fn: Callable[..., Any]) -> inspect.Signature:
    """The arguments that `fn` itself takes; of a wrapper that hands on any, the wrapped one's."""
    own = inspect.signature(fn, follow_wrapped=False)
    hands_on = any(p.kind == inspect.Parameter.VAR_KEYWORD for p in own.parameters.values())
    return inspect.signature(fn) if hands_on else own


def validate_model_fn(model_fn: Callable[..., Any] | None, params: Any) -> None:
    """Checks that a model_fn has legal arguments.

    Args:
      model_fn: The user's model_fn.
      params: The params given to the estimator, or None.

    Raises:
      ValueError: There is no model_fn; it does not take `features`; it takes an argument that no
        estimator gives; or params are given and it does not take `params`.
      TypeError: model_fn cannot be called.
    """
    if model_fn is None:
        raise ValueError("model_fn must be provided to Estimator.")
    names = argument_names(model_fn)
    if "features" not in names:
        raise ValueError(f"model_fn ({model_fn}) must include features argument.")
    if params is not None and "params" not in names:
        raise ValueError(
            f"model_fn ({model_fn}) does not include params argument, but params ({params}) is "
            "passed to Estimator."
        )
    if params is None and requires(model_fn, "params"):
        _LOG.warning(
            "Estimator's model_fn (%s) includes params argument, but params are not passed to "
            "Estimator.",
            model_fn,
        )
    unknown = sorted(set(names) - _MODEL_FN_ARGUMENTS)
    if unknown:
        raise ValueError(
            f"model_fn ({model_fn}) has following not expected args: {unknown}. Bind them with "
            "functools.partial, or pass them through params."
        )


def as_replica(fn: Callable[..., Any], strategy: Any) -> Callable[..., Any]:
    """Returns `fn`, which each replica of a strategy calls, as one that tells `user_function`."""
    if isinstance(strategy, _WITHOUT_REPLICAS):
        return fn

    def replica(*args: Any, **kwargs: Any) -> Any:
        token = _on_replica.set(True)
        try:
            return fn(*args, **kwargs)
        finally:
            _on_replica.reset(token)

    return replica


def user_function(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a user's function as it is to be called: converted if a replica calls it.

    Args:
      fn: Any callable. One of `tf.autograph.experimental.do_not_convert` stays as it is.
    """
    if not _on_replica.get():
        return fn
    status = tf.__internal__.autograph.control_status_ctx()
    return tf.__internal__.autograph.tf_convert(fn, status)
