"""Calls of users' functions: with the arguments that they take, and on replicas through AutoGraph.

On replicas, users' functions are converted, so that `if tensor:` works in them, as in tf.estimator.
Functions that no replica calls are not converted.
"""

import contextvars
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_train import bootstrap
from estimator_train.engine.tf_internals import modes
from estimator_train.engine.type_aliases import InputFn, Params, Strategy, TensorStructure

bootstrap.prepare_tensorflow()
_LOG = tf.get_logger()
_NAMED = (
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)
_on_replica = contextvars.ContextVar("on_replica", default=False)
# These strategies call a function directly; the others convert it first.
_WITHOUT_REPLICAS = (tf.distribute.OneDeviceStrategy, tf.compat.v1.distribute.OneDeviceStrategy)
_LABELS_NOT_TAKEN = "model_fn does not take labels, but input_fn returns labels."
_MODEL_FN_ARGUMENTS = frozenset({"features", "labels", "mode", "params", "self", "config"})


def list_argument_names(fn: Callable[..., Any]) -> tuple[str, ...]:
    """Returns the names of the arguments that a caller can still give to `fn`.

    Args:
      fn: A function, lambda, bound method, callable object or `functools.partial` of these. The
        arguments that a partial holds are left out.

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
        # A partial keeps its keywords in the signature, with new defaults.
        held |= set(fn.keywords)
        positional = list_argument_names(fn.func)[: len(fn.args)]
        held |= set(positional)
        fn = fn.func
    parameters = _find_signature(fn).parameters.values()
    return tuple(p.name for p in parameters if p.kind in _NAMED and p.name not in held)


def call_with_known(
    fn: Callable[..., Any],
    available: Mapping[str, Any],
    fallbacks: Mapping[str, Any] | None = None,
    required_arguments: Mapping[str, str] | None = None,
) -> Any:
    """Calls a function with the arguments that it names.

    Args:
      fn: The function.
      available: Values of arguments by their names.
      fallbacks: Values of arguments that have no default in the function, by their names.
      required_arguments: Maps each required argument to the error raised when it is missing.

    Raises:
      ValueError: The function does not take one of `required_arguments`.
    """
    needed = {name: value for name, value in (fallbacks or {}).items() if requires(fn, name)}
    names = list_argument_names(fn)
    for name, message in (required_arguments or {}).items():
        if name not in names:
            raise ValueError(message)
    known = {name: value for name, value in {**needed, **available}.items() if name in names}
    return convert_on_replica(fn)(**known)


def call_model_fn(model_fn: Callable[..., Any], available: Mapping[str, Any]) -> Any:
    """Calls a model_fn with the arguments that it takes.

    Args:
      model_fn: The user's model_fn.
      available: Features, labels, mode, params and config by their names.

    Raises:
      ValueError: There are labels, and model_fn does not take them.
    """
    has_labels = available["labels"] is not None
    required = {"labels": _LABELS_NOT_TAKEN} if has_labels else None
    return call_with_known(model_fn, available, required_arguments=required)


class UserFunctionMethods:
    """Methods of Estimator that call its model_fn and an input_fn; programs override them."""

    _model_fn: Callable[..., Any]

    def _get_call_arguments(self) -> dict[str, Any]:
        raise NotImplementedError

    def _call_input_fn(
        self,
        input_fn: InputFn,
        mode: str,
        input_context: tf.distribute.InputContext | None = None,
    ) -> Any:
        fallbacks = {}
        available = self._list_arguments(mode=mode)
        if input_context is not None:
            available["input_context"] = input_context
        else:  # An input_fn keeps its own default.
            fallbacks["input_context"] = tf.distribute.InputContext()
        return call_with_known(input_fn, available, fallbacks)

    def _call_model_fn(
        self, features: TensorStructure, labels: TensorStructure, mode: str, config: Any
    ) -> Any:
        available = self._list_arguments(features=features, labels=labels, mode=mode, config=config)
        _LOG.info("Calling model_fn.")
        spec = call_model_fn(self._model_fn, available)
        _LOG.info("Done calling model_fn.")
        return spec

    def _list_arguments(self, **given: Any) -> dict[str, Any]:
        return {**self._get_call_arguments(), **given}


def requires(fn: Callable[..., Any], name: str) -> bool:
    """Returns whether `fn` has an argument `name` without a default."""
    parameter = _find_signature(fn).parameters.get(name)
    return parameter is not None and parameter.default is inspect.Parameter.empty


def _find_signature(fn: Callable[..., Any]) -> inspect.Signature:
    """Returns the signature of `fn`, or of the wrapped function if `fn` passes on any keyword."""
    own = inspect.signature(fn, follow_wrapped=False)
    passes_on = any(p.kind == inspect.Parameter.VAR_KEYWORD for p in own.parameters.values())
    return inspect.signature(fn) if passes_on else own


def validate_model_fn(model_fn: Callable[..., Any] | None, params: Params) -> None:
    """Checks that a model_fn has legal arguments.

    Args:
      model_fn: The user's model_fn.
      params: The params given to the estimator, or None.

    Raises:
      ValueError: model_fn is missing; it does not take `features`; it takes an unknown argument; or
        params are given and it does not take `params`.
      TypeError: model_fn cannot be called.
    """
    if model_fn is None:
        raise ValueError("model_fn must be provided to Estimator.")
    names = list_argument_names(model_fn)
    if "features" not in names:
        raise ValueError(f"model_fn ({model_fn}) must include features argument.")
    if params is not None and "params" not in names:
        raise ValueError(
            f"model_fn ({model_fn}) does not include params argument, but params ({params}) is "
            "passed to Estimator."
        )
    warn_of_missing_params(model_fn, params)
    unknown = sorted(set(names) - _MODEL_FN_ARGUMENTS)
    if unknown:
        raise ValueError(
            f"model_fn ({model_fn}) has following not expected args: {unknown}. Bind them with "
            "functools.partial, or pass them through params."
        )


def warn_of_missing_params(model_fn: Callable[..., Any], params: Params) -> None:
    """Logs a warning if a model_fn requires `params`, but the estimator has none."""
    if params is None and requires(model_fn, "params"):
        _LOG.warning(
            "Estimator's model_fn (%s) includes params argument, but params are not passed to "
            "Estimator.",
            model_fn,
        )


def as_replica(fn: Callable[..., Any], strategy: Strategy) -> Callable[..., Any]:
    """Returns `fn` for the replicas of a strategy, in which `convert_on_replica` converts."""
    if isinstance(strategy, _WITHOUT_REPLICAS):
        return fn

    def replica(*args: Any, **kwargs: Any) -> Any:
        token = _on_replica.set(True)
        try:
            return fn(*args, **kwargs)
        finally:
            _on_replica.reset(token)

    return replica


def convert_on_replica(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a user's function, converted by AutoGraph if a replica calls it.

    Args:
      fn: Any callable. Functions of `tf.autograph.experimental.do_not_convert` are not converted.
    """
    if not _on_replica.get():
        return fn
    return modes.convert(fn)
