"""Which arguments a user's model_fn or input_fn takes, and calling it with just those."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_train.engine.autograph import user_function

_LOG = tf.get_logger()
_NAMED = (
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)
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


def call_with_known(fn: Callable[..., Any], available: Mapping[str, Any]) -> Any:
    """Calls `fn` with those of the `available` arguments that it names."""
    names = argument_names(fn)
    known = {name: value for name, value in available.items() if name in names}
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
