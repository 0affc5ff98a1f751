"""Methods and attributes that TensorFlow and Keras have removed from their classes."""

import functools
import pickle
from collections.abc import Iterable, Iterator
from operator import attrgetter
from types import ModuleType
from typing import Any

from estimator_train.legacy.removed.add import add_missing

# Settings of tf.data before TensorFlow 2.4 that change no result.
_DATA_SETTINGS = ("autotune", "autotune_buffers", "autotune_cpu_budget", "hoist_random_uniform")
_PARTS_OF_OPERATIONS = ("control_inputs", "inputs", "outputs")
_DATA_PARTS = ("experimental_stats", "experimental_autotune", "experimental_stateful_whitelist")


def add_methods(tensorflow: ModuleType) -> None:
    """Adds what programs of TensorFlow 1 and of early versions of 2 use."""
    layer, model = tensorflow.keras.layers.Layer, tensorflow.keras.Sequential
    add_missing(layer, {"get_updates_for": _get_updates_for, "get_losses_for": _get_losses_for})
    add_missing(model, {"predict_classes": _predict_classes, "predict_proba": _predict_proba})
    for cls in (tensorflow.distribute.Strategy, tensorflow.compat.v1.distribute.Strategy):
        add_missing(cls, {"experimental_run_v2": _run_v2})
    data = tensorflow.data
    _accept_settings(data.Options, _DATA_PARTS)
    _accept_settings(data.experimental.OptimizationOptions, _DATA_SETTINGS)
    auto_shard = property(_get_auto_shard, _set_auto_shard)
    add_missing(data.experimental.DistributeOptions, {"auto_shard": auto_shard})
    _end_at_stop_iteration(tensorflow.compat.v2.data.Dataset)
    _accept_resource_variables(tensorflow)
    for cls in (tensorflow.io.gfile.GFile, tensorflow.compat.v1.gfile.FastGFile):
        _accept_buffers(cls)


def add_methods_of_tf1(tensorflow: ModuleType) -> None:
    """Adds what only programs of TensorFlow 1 use."""
    _accept_whole_floats(tensorflow.compat.v1.Dimension)
    _add_initialized_value(tensorflow)
    # Attributes that operations had before they were written in C++.
    former = {f"_{name}": property(attrgetter(name)) for name in _PARTS_OF_OPERATIONS}
    add_missing(tensorflow.Operation, former)
    add_missing(tensorflow.keras.layers.Layer, {"apply": _apply_layer})


def list_devices() -> list[str]:
    """Does the same as `tf.config.experimental_list_devices` of TensorFlow 1.15."""
    import tensorflow as tf

    place = "/job:localhost/replica:0/task:0"
    return [f"{place}{device.name}" for device in tf.config.list_logical_devices()]


def _end_at_stop_iteration(dataset: Any) -> None:
    """Lets a generator of `from_generator` end by raising StopIteration, as before Python 3.7.

    Since then Python makes it a RuntimeError (PEP 479).
    """
    from_generator = dataset.from_generator

    @functools.wraps(from_generator)
    def call(generator: Any, *args: Any, **kwargs: Any) -> Any:
        if not callable(generator):
            return from_generator(generator, *args, **kwargs)

        @functools.wraps(generator)
        def iterate(*values: Any) -> Iterator[Any]:
            try:
                yield from generator(*values)
            except RuntimeError as error:
                if not isinstance(error.__cause__, StopIteration):
                    raise

        return from_generator(iterate, *args, **kwargs)

    dataset.from_generator = staticmethod(call)


def _get_updates_for(self: Any, inputs: Any) -> list[Any]:
    """Returns the updates that depend on the inputs; all updates of today's layers do on some."""
    return [] if inputs is None else _find_dependent(self.updates, inputs)


def _get_losses_for(self: Any, inputs: Any) -> list[Any]:
    """Returns the losses that depend on the inputs; for None those of the weights alone."""
    if inputs is not None:
        return _find_dependent(self.losses, inputs)
    return [loss for loss in self.losses if not _depends_on(loss, _is_fed)]


def _find_dependent(tensors: Iterable[Any], inputs: Any) -> list[Any]:
    import tensorflow as tf

    given = {id(tensor) for tensor in tf.nest.flatten(inputs)}
    return [one for one in tensors if _depends_on(one, lambda tensor: id(tensor) in given)]


def _depends_on(value: Any, is_input: Any) -> bool:
    """Returns whether a tensor or operation of a graph is computed from an input."""
    return any(is_input(tensor) for tensor in _find_ancestors(value))


def _find_ancestors(value: Any) -> Iterator[Any]:
    """Yields the tensors from which a tensor or operation of a graph is computed."""
    waiting, seen = [value], set()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        operation = getattr(one, "op", one)
        waiting += [*operation.inputs, *operation.control_inputs]


def _is_fed(tensor: Any) -> bool:
    kind = getattr(getattr(tensor, "op", None), "type", "")
    return kind.startswith(("Placeholder", "IteratorGetNext", "OptionalGetValue"))


def _predict_classes(self: Any, x: Any, batch_size: int | None = 32, verbose: int = 0) -> Any:
    found = self.predict(x, batch_size=batch_size, verbose=verbose)
    return found.argmax(axis=-1) if found.shape[-1] > 1 else (found > 0.5).astype("int32")


def _predict_proba(self: Any, x: Any, batch_size: int | None = 32, verbose: int = 0) -> Any:
    return self.predict(x, batch_size=batch_size, verbose=verbose)


def _run_v2(self: Any, fn: Any, args: Any = (), kwargs: Any = None) -> Any:
    return self.run(fn, args, kwargs)


def _apply_layer(self: Any, inputs: Any, *arguments: Any, **named: Any) -> Any:
    return self(inputs, *arguments, **named)


def _accept_settings(cls: type, names: Iterable[str]) -> None:
    """Makes settings exist that have no effect any more."""
    for name in names:
        hidden = f"_without_effect_{name}"
        add_missing(cls, {name: property(_get_hidden(hidden), _set_hidden(hidden))})


class _Settings:
    """Settings of which each can be set, without an effect."""


def _get_hidden(name: str) -> Any:
    def get(self: Any) -> Any:
        if name not in self.__dict__:
            object.__setattr__(self, name, _Settings())
        return self.__dict__[name]

    return get


def _set_hidden(name: str) -> Any:
    return lambda self, value: object.__setattr__(self, name, value)


def _get_auto_shard(self: Any) -> bool:
    import tensorflow as tf

    return bool(self.auto_shard_policy != tf.data.experimental.AutoShardPolicy.OFF)


def _set_auto_shard(self: Any, value: bool) -> None:
    import tensorflow as tf

    policies = tf.data.experimental.AutoShardPolicy
    self.auto_shard_policy = policies.AUTO if value else policies.OFF


def _accept_buffers(file: Any) -> None:
    """Makes files accept arrays of `pickle.HIGHEST_PROTOCOL`, since Python 3.8 buffers."""
    original = file.write

    @functools.wraps(original)
    def write(self: Any, file_content: Any) -> None:
        is_buffer = isinstance(file_content, pickle.PickleBuffer)
        original(self, bytes(file_content) if is_buffer else file_content)

    file.write = write


def _accept_whole_floats(dimension: Any) -> None:
    """Makes dimensions accept floats such as `units / 2`, as in TensorFlow 1."""
    original = dimension.__init__

    def init(self: object, value: Any) -> None:
        is_whole = isinstance(value, float) and value.is_integer()
        original(self, int(value) if is_whole else value)

    dimension.__init__ = init


def _add_initialized_value(tensorflow: ModuleType) -> None:
    """Adds `initialized_value` to resource variables; reference variables have it."""

    def initialized_value(self: Any) -> Any:
        with tensorflow.init_scope():
            return tensorflow.cond(
                tensorflow.compat.v1.is_variable_initialized(self),
                self.read_value,
                lambda: self.initial_value,
            )

    tensorflow.Variable.initialized_value = initialized_value


def _accept_resource_variables(tensorflow: ModuleType) -> None:
    """Makes resource variables instances of v1's `Variable`, as in TensorFlow 1.15."""
    for cls in tensorflow.Variable.__subclasses__():
        if cls.__name__ == "BaseResourceVariable":
            tensorflow.compat.v1.Variable.register(cls)
