"""The inputs of a step: a call of the user's input_fn, and an iterator of its dataset.

Large arrays of an input_fn are kept outside of the graph. A constant is copied into the graph, and
from there into the `.meta` file of every checkpoint, `graph.pbtxt` and the event file; above 2 GB
that fails. So an array of 64 KB or more becomes an operation that returns the array when it runs
(`make_external_constant`): for a dataset, when its iterator starts. The operation has no state, so
that iterators can be saved and graphs imported.
"""

import contextlib
import dataclasses
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train.engine.inputs.sharding import Rounds, select_shard
from estimator_train.engine.job import Job
from estimator_train.engine.keras_3_errors import explain_keras_3_error
from estimator_train.engine.tf_internals import constants
from estimator_train.engine.tf_internals.constants import replace_constants
from estimator_train.engine.types import InputFn, TensorStructure
from estimator_train.estimator_spec import ModeKeys

MIN_BYTES = 64 * 2**10
EXTERNAL_ARRAY = "PyFuncStateless"
_ALIGNMENT = 64  # TensorFlow copies arrays at other addresses.
_NUMERIC_KINDS = "biufc"
_LOG = tf.get_logger()
# For each graph, the columns of its input by the names of their tensors.
_COLUMNS: weakref.WeakKeyDictionary[tf.Graph, dict[str, str]] = weakref.WeakKeyDictionary()
_EXPECTED = (
    "Return a tf.data.Dataset of (features, labels) or of features, a pair of tensors or of "
    "dicts of tensors (features, labels), or features alone."
)


@dataclasses.dataclass
class _Array:
    """Array that an operation returns.

    Attributes:
      values: The array; None after `release_arrays`.
    """

    values: np.ndarray | None

    def __call__(self) -> np.ndarray:
        if self.values is None:
            raise RuntimeError("The arrays of this input were released when its iterator started.")
        return self.values


# State of the process: arrays by graph, then by the name of the operation.
_arrays: weakref.WeakKeyDictionary[tf.Graph, dict[str, _Array]] = weakref.WeakKeyDictionary()


def find_external_array(graph: tf.Graph, name: str) -> np.ndarray | None:
    """Returns the array of an operation of type EXTERNAL_ARRAY; None if it is another one."""
    found = _arrays.get(graph, {}).get(name)
    return None if found is None else found.values


def is_external_array(graph: tf.Graph, name: str) -> bool:
    """Returns whether an operation reads an external array, also one that was released."""
    return name in _arrays.get(graph, {})


def has_external_arrays(graph: tf.Graph) -> bool:
    """Returns whether a graph has external arrays that were not released."""
    return any(array.values is not None for array in _arrays.get(graph, {}).values())


def release_arrays(graph: tf.Graph) -> None:
    """Releases the external arrays of a graph whose iterators will not start again."""
    for array in _arrays.get(graph, {}).values():
        array.values = None


def make_external_constant(
    value: Any, dtype: Any, shape: Any, name: str | None
) -> tf.Tensor | None:
    """Returns a tensor of an external array; None for a value that becomes a constant.

    Args:
      value: An array, or another value of a constant.
      dtype: The constant's dtype, or None for the array's.
      shape: The constant's shape, or None for the array's.
      name: The constant's name, or None.
    """
    if not hasattr(value, "__array__"):
        return None
    array = value if isinstance(value, np.ndarray) else np.asarray(value)
    number_type = _number_type(array, dtype)
    if number_type is None or (shape is not None and tuple(shape) != array.shape):
        return None
    external = _Array(_take_snapshot(array, number_type))
    tensor = constants.find_tensor(external, number_type, array.shape, name or "Const")
    _arrays.setdefault(tensor.graph, {})[tensor.op.name] = external
    return tensor


def _number_type(array: np.ndarray, dtype: Any) -> np.dtype | None:
    """Returns the dtype of a numeric array as a constant; None if NumPy does not define it."""
    wanted = array.dtype if dtype is None else tf.as_dtype(dtype)
    if isinstance(wanted, tf.DType):
        wanted = np.dtype(wanted.as_numpy_dtype)
    dtypes = (array.dtype, wanted)
    is_numeric = all(one.kind in _NUMERIC_KINDS and one.isnative for one in dtypes)
    # These kinds exclude bfloat16 and quantized types; TensorFlow does not know float128.
    return wanted if is_numeric and wanted.itemsize <= 16 and wanted.char not in "gG" else None


def _take_snapshot(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Returns a copy of an array, or the array itself if its memory is read-only."""
    if array.dtype == dtype and array.flags.c_contiguous and _is_immutable(array):
        return array
    size = array.size * dtype.itemsize
    buffer = np.empty(size + _ALIGNMENT, np.uint8)
    start = -buffer.ctypes.data % _ALIGNMENT
    copy = buffer[start : start + size].view(dtype).reshape(array.shape)
    np.copyto(copy, array, casting="unsafe")
    return copy


def _is_immutable(array: Any) -> bool:
    """Returns whether an array and the memory that it views are read-only."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return False
        array = array.base
    if array is None:
        return True
    try:  # A file mapped for reading, bytes, or a buffer of Arrow.
        view = memoryview(array)
        return view.readonly and memoryview(view.obj).readonly
    except TypeError:
        return False


@dataclasses.dataclass(frozen=True)
class Inputs:
    """Tensors that one step reads.

    Attributes:
      features: The features for model_fn.
      labels: The labels for model_fn, or None.
      iterator: The dataset's iterator; None if the input is not a dataset.
      initializer: The operation that starts the dataset; None if the input is not a dataset.
      context: The shard of this process's input; None if no other process reads one.
      has_next: Whether another element follows, a bool scalar, for the vote of synchronous workers;
        None in all other trainings.
      rounds: The rounds of an input that several replicas evaluate; None for all others.
    """

    features: Any
    labels: Any
    iterator: Any = None
    initializer: tf.Operation | None = None
    context: tf.distribute.InputContext | None = None
    has_next: tf.Tensor | None = None
    rounds: Rounds | None = None


def call_input_fn(
    job: Job,
    input_fn: InputFn,
    mode: str,
    input_context: tf.distribute.InputContext | None = None,
) -> Any:
    """Calls input_fn with those of params, config, mode and input_context that it accepts.

    Args:
      job: The call of the Estimator.
      input_fn: The user's input_fn.
      mode: A ModeKeys value.
      input_context: The shard of this process's input; None if no other process reads one. An
        input_fn's default is then used.
    """
    config = job.config
    shard = {} if input_context is None else {"input_context": input_context}
    master = config.evaluation_master if mode == ModeKeys.EVAL else config.master
    external = (
        replace_constants(make_external_constant, MIN_BYTES)
        if not master or job.together.runs_here(master)
        else contextlib.nullcontext()
    )
    try:
        with tf.device("/cpu:0"), external:
            result = job.call_input_fn(input_fn, mode, **shard)
    except Exception as error:
        explain_keras_3_error("input_fn", error)
        raise
    # Some libraries free their rows when the dataset object that they returned is collected.
    graph = tf.compat.v1.get_default_graph()
    graph.input_fn_results = [*getattr(graph, "input_fn_results", []), result]
    if result is None:
        _LOG.warning("input_fn (%s) returned None. %s", input_fn, _EXPECTED)
    return result


def make_inputs(job: Job, input_fn: InputFn, mode: str) -> Inputs:
    """Calls an input_fn and returns the tensors of one step.

    Args:
      job: The call of the Estimator.
      input_fn: The user's input_fn.
      mode: A ModeKeys value.

    Raises:
      ValueError: It returned a tuple or list of another length than 2.
    """
    shard = job.together.shard if mode == ModeKeys.TRAIN else None
    result = call_input_fn(job, input_fn, mode, shard)
    if not is_dataset(result):
        features, labels = split(result)
        record_columns(features, labels)
        return Inputs(features, labels)
    if shard is not None:
        result = select_shard(result, shard)
    with tf.device("/cpu:0"):
        iterator = tf.compat.v1.data.make_initializable_iterator(result)
        features, labels = split(iterator.get_next())
    record_columns(features, labels)
    return Inputs(features, labels, iterator, iterator.initializer, shard)


def record_columns(features: TensorStructure, labels: TensorStructure) -> None:
    """Records the names of an input's tensors in the default graph, for later errors."""
    columns = _COLUMNS.setdefault(tf.compat.v1.get_default_graph(), {})
    for root, structure in (("features", features), ("labels", labels)):
        for name, leaf in _list_leaves(root, structure):
            for tensor in tf.nest.flatten(leaf, expand_composites=True):
                if tf.is_tensor(tensor):
                    columns[tensor.name] = name


def get_columns(graph: tf.Graph) -> dict[str, str]:
    """Returns the recorded names of a graph's input, such as features['x'], by tensor names."""
    return _COLUMNS.get(graph, {})


def _list_leaves(name: str, structure: TensorStructure) -> Iterator[tuple[str, Any]]:
    if isinstance(structure, dict):
        for key, part in structure.items():
            yield from _list_leaves(f"{name}[{key!r}]", part)
    elif isinstance(structure, (list, tuple)):
        for index, part in enumerate(structure):
            yield from _list_leaves(f"{name}[{index}]", part)
    else:
        yield name, structure


def find_batch_size(features: TensorStructure) -> tf.Tensor | None:
    """Returns the batch size of the first feature, an integer scalar; None without a batch."""
    first = _find_first_leaf(features)
    if isinstance(first, tf.SparseTensor):
        return first.dense_shape[0]
    if isinstance(first, tf.RaggedTensor):
        return first.nrows()
    return tf.shape(first)[0] if tf.is_tensor(first) and first.shape.rank != 0 else None


def _find_first_leaf(structure: TensorStructure) -> Any:
    """Returns the first leaf of a structure, or None; the keys of dicts may have mixed types."""
    if isinstance(structure, Mapping):
        names = sorted(structure, key=lambda name: (type(name).__name__, name))
        parts = [structure[name] for name in names]
    elif isinstance(structure, (list, tuple)):
        parts = list(structure)
    else:
        return structure
    return next((leaf for leaf in map(_find_first_leaf, parts) if leaf is not None), None)


def is_dataset(result: Any) -> bool:
    """Returns whether an input_fn returned a dataset, of TensorFlow 1 or 2."""
    return isinstance(result, tf.data.Dataset)  # A base class of tf.compat.v1.data.Dataset.


def split(element: TensorStructure) -> tuple[TensorStructure, TensorStructure]:
    """Splits an element into features and labels; labels are None for an element without them."""
    if not isinstance(element, (tuple, list)):
        return element, None
    if len(element) != 2:
        raise ValueError(
            "input_fn should return (features, labels) as a len 2 tuple. It returned a "
            f"{type(element).__name__} of length {len(element)}: {element}"
        )
    features, labels = element
    return features, labels
