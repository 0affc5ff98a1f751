"""Fewer transfers between a worker and its parameter servers.

TensorFlow sends each tensor by a separate call, which takes more processor time than most
operations of a click model, whose step has a hundred transfers for ten features. Here the small
tensors that go from one task to another at the same stage of a step are sent as one: their numbers
as words of 32 bits, after the count of words of each.
"""

import collections
import dataclasses
import re
from collections.abc import Sequence

import tensorflow as tf

from estimator_train.engine.tf_internals import graph_edits, graphs
from estimator_train.engine.tf_internals.tensor_sizes import count_bytes, divide

# Operations that wait for other tasks, and those of control flow of TensorFlow 1, whose tensors
# may not exist: what is sent together would wait for them.
_NOT_COMBINED = re.compile(
    r".*(Queue|Accumulator|Barrier|Stage|Collective|Recv|Conditional).*|(Ref)?(Enter|Switch|Merge)"
)
_CALLS_FUNCTION = re.compile(r".*(PartitionedCall|While|If|Case|For)")
# Types of one or two words.
_TYPES = (tf.float32, tf.int32, tf.float64, tf.int64)
# A large tensor is sent alone, without a copy. Tensors of unknown size are the rows of embeddings.
_MAX_BYTES = 2**18
# Other tensors do not wait until more than this is ready.
_MIN_BYTES_TOGETHER = 2**20


@dataclasses.dataclass(frozen=True)
class _Route:
    """Way of tensors that can be sent together.

    Attributes:
      source: Task that has the tensors, as a device.
      target: Task that takes them.
      stage: Greatest number of transfers before this one in a step.
    """

    source: str
    target: str
    stage: int


def combine_transfers(targets: Sequence[tf.Operation]) -> None:
    """Makes a step send small tensors together.

    Nothing changes if the step waits for other tasks, as with SyncReplicasOptimizer, if it has
    control flow of TensorFlow 1, or if this task has a GPU, on which it was never measured.

    Args:
      targets: The operations that run a step, in a graph without a session.
    """
    needed = list(graphs.walk(targets))
    if any(_NOT_COMBINED.fullmatch(operation.type) for operation in needed):
        return
    if tf.config.list_physical_devices("GPU"):
        return
    tasks = {operation: _find_task(operation) for operation in needed}
    stages = _count_stages(tasks)
    routes: dict[_Route, dict[str, tf.Tensor]] = collections.defaultdict(dict)
    for operation in needed:
        for tensor in operation.inputs:
            source, target = tasks[tensor.op], tasks[operation]
            if source and target and source != target and _can_combine(tensor):
                routes[_Route(source, target, stages[tensor.op])][tensor.name] = tensor
    with targets[0].graph.as_default(), tf.name_scope("transfers"):
        for route, tensors in routes.items():
            for part in divide(tensors.values(), tensors.values(), _MIN_BYTES_TOGETHER):
                if len(part) > 1:
                    _send_together(route, part, tasks)


def _find_task(operation: tf.Operation) -> str:
    """Returns the task of an operation, maybe that of one with which it is placed; or ""."""
    seen: set[tf.Operation] = set()
    while operation not in seen:
        seen.add(operation)
        variables = [tensor.op for tensor in operation.inputs if tensor.dtype == tf.resource]
        names = [group.decode().removeprefix("loc:@") for group in operation.colocation_groups()]
        # An operation runs where its variable is, whatever its device. A function calls others.
        if variables and not _CALLS_FUNCTION.fullmatch(operation.type):
            operation = variables[0]
        elif not operation.device and names and names[0] != operation.name:
            operation = operation.graph.get_operation_by_name(names[0])
    spec = tf.DeviceSpec.from_string(operation.device)
    return f"/job:{spec.job}/task:{spec.task}" if spec.job and spec.task is not None else ""


def _count_stages(tasks: dict[tf.Operation, str]) -> dict[tf.Operation, int]:
    """Returns the greatest number of transfers before each operation of a step.

    No tensor depends on the transfer of another tensor of its stage, so that tensors of one stage
    can be sent together without a cycle.
    """
    stages = dict.fromkeys(tasks, 0)
    before = {operation: graphs.list_operations_before(operation) for operation in tasks}
    missing = {operation: len(inputs) for operation, inputs in before.items()}
    users: dict[tf.Operation, list[tf.Operation]] = collections.defaultdict(list)
    for operation, inputs in before.items():
        for needed in inputs:
            users[needed].append(operation)
    ready = [operation for operation, count in missing.items() if not count]
    while ready:
        operation = ready.pop()
        for user in users[operation]:
            is_sent = tasks[user] != tasks[operation]
            stages[user] = max(stages[user], stages[operation] + is_sent)
            missing[user] -= 1
            if not missing[user]:
                ready.append(user)
    return stages


def _can_combine(tensor: tf.Tensor) -> bool:
    if tensor.dtype not in _TYPES or tensor.shape.rank is None:
        return False
    has_one_unknown_size = tensor.shape.as_list().count(None) <= 1
    return has_one_unknown_size and count_bytes(tensor) <= _MAX_BYTES


def _send_together(
    route: _Route, tensors: Sequence[tf.Tensor], tasks: dict[tf.Operation, str]
) -> None:
    """Adds operations that send tensors as one, and makes the target's operations use them."""
    with tf.device(route.source):
        words = [tf.reshape(tf.bitcast(tensor, tf.int32), [-1]) for tensor in tensors]
        sent = tf.concat([*tf.shape_n(words), *words], 0)
    with tf.device(route.target):
        counts, received = sent[: len(tensors)], sent[len(tensors) :]
        parts = tf.split(received, counts, num=len(tensors))
        for tensor, part in zip(tensors, parts, strict=True):
            value = _convert_words(part, tensor)
            for user in tensor.consumers():
                if tasks.get(user) == route.target:
                    graph_edits.replace_input(user, tensor, value)


def _convert_words(words: tf.Tensor, like: tf.Tensor) -> tf.Tensor:
    """Returns the numbers that words contain, in the type and shape of another tensor."""
    shape = [-1 if size is None else size for size in like.shape.as_list()]
    if like.dtype.size > words.dtype.size:
        shape.append(like.dtype.size // words.dtype.size)
    return tf.bitcast(tf.reshape(words, shape), like.dtype)
