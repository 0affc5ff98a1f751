"""Training beside other workers, which share variables on parameter servers.

`Asynchronous` gives chief and workers their hooks (`ps_server.py`, `ps_final_steps.py`), and tells
the others when a call ends.

TensorFlow sends each tensor by a separate call, which takes more processor time than most
operations of a click model, whose step has a hundred transfers for ten features. Here the small
tensors that go from one task to another at the same stage of a step are sent as one: their numbers
as words of 32 bits, after the count of words of each.
"""

import collections
import contextlib
import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf

from estimator_train import cluster
from estimator_train.engine.checkpoints.save_schedule import SaveSchedule
from estimator_train.engine.tf_internals import graphs
from estimator_train.engine.tf_internals.constants import count_bytes, divide
from estimator_train.engine.together.alone import Alone
from estimator_train.engine.together.ps_final_steps import (
    PauseBeforeFinalStepsHook,
    WaitBeforeFinalStepsHook,
)
from estimator_train.engine.together.ps_saves import PauseForSaveHook, WaitForSaveHook, pace_saves
from estimator_train.engine.together.ps_server import (
    FollowChiefHook,
    StatusTable,
    WaitForPsCreator,
    count_call,
    wait_for_ps,
)
from estimator_train.engine.together.server import (
    find_chief,
    find_max_wait_secs,
    list_other_trainers,
    list_trainers,
    list_training_jobs,
    name_task,
    start_server,
)
from estimator_train.engine.types import Hook, SaverHook, StepFetches
from estimator_train.run_config import RunConfig

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
_PAUSES = "pauses "
_FUNCTION_CALLS = ("PartitionedCall", "StatefulPartitionedCall")


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
                    graphs.replace_input(user, tensor, value)


def _convert_words(words: tf.Tensor, like: tf.Tensor) -> tf.Tensor:
    """Returns the numbers that words contain, in the type and shape of another tensor."""
    shape = [-1 if size is None else size for size in like.shape.as_list()]
    if like.dtype.size > words.dtype.size:
        shape.append(like.dtype.size // words.dtype.size)
    return tf.bitcast(tf.reshape(words, shape), like.dtype)


class Asynchronous(Alone):
    """One of several workers that update variables on parameter servers without waiting.

    Args:
      config: The configuration of the training, its cluster resolved.
    """

    shares_global_step = True
    shares_variables = True

    def __init__(self, config: RunConfig) -> None:
        super().__init__(config)
        self.device: str = f"/job:{config.task_type}/task:{config.task_id}"
        if config.num_worker_replicas > 1:
            self.shard = tf.distribute.InputContext(
                num_input_pipelines=config.num_worker_replicas,
                input_pipeline_id=config.global_id_in_cluster,
            )

    @property
    def steps_per_call(self) -> int:
        """Maximum number of training steps in a session call."""
        # Other workers see an asynchronous worker's steps only when its loop ends.
        steps = self._config.steps_per_loop
        return 1 if steps == "auto" else int(steps)

    @property
    def _steps_between_checks(self) -> int:
        """Steps of a loop before it reads the steps of other workers."""
        return self.steps_per_call - 1

    @contextlib.contextmanager
    def join(self, max_steps: int | None) -> Iterator[list[Hook]]:
        """Starts this task's server; reports to the parameter servers when the call ends.

        A call that ends with an error is not reported.

        Raises:
          ValueError: The cluster has several trainers, but no parameter servers or strategy by
            which they share variables, or the port of this task is taken.
          DeadlineExceededError: A parameter server did not come up.
        """
        config, name = self._config, name_task(self._config)
        _check_shares_variables(config)
        ps = list_training_jobs(config).get(cluster.PS, {})
        status = StatusTable(start_server(config), self.device, ps)
        call = count_call()
        if config.is_chief:
            wait_for_ps(config)
            # Replaces the report of a process that was killed, or of an earlier job.
            status.write(name, call - 1)
        yield self._make_hooks(_CallStatus(status, name, call), max_steps)
        status.write(name, call)

    def _make_hooks(self, status: "_CallStatus", max_steps: int | None) -> list[Hook]:
        """Returns the hooks that sessions of this task need in a cluster."""
        config, chief = self._config, find_chief(self._config)
        if chief is None or not config.num_ps_replicas:
            return []
        if config.is_chief:
            others = list_other_trainers(config)
            if max_steps is None or not others:
                return []
            steps = self._steps_between_checks
            return [WaitBeforeFinalStepsHook(max_steps, others, status.find_paused, steps)]
        trainers, max_wait = list_trainers(config), find_max_wait_secs(config)
        follow = FollowChiefHook(status.table, chief, trainers[chief], status.call, max_wait)
        pause_for_save = PauseForSaveHook(status.task, follow.is_over)
        if max_steps is None:
            wait = WaitForSaveHook(follow.is_over, None, pause_for_save.allow_saves)
            return [follow, wait, pause_for_save]
        pause = PauseBeforeFinalStepsHook(
            max_steps,
            len(trainers),
            status.report_pause,
            follow.has_ended,
            max_wait,
            self._steps_between_checks,
            pause_for_save.allow_saves,
        )
        wait = WaitForSaveHook(follow.is_over, pause.first, pause_for_save.allow_saves)
        return [follow, wait, pause, pause_for_save]

    def make_placement(self) -> Callable[[Any], str] | None:
        """Returns a device function that spreads variables over the parameter servers."""
        config = self._config
        if config.device_fn is not None or not config.num_ps_replicas:
            return config.device_fn
        return tf.compat.v1.train.replica_device_setter(
            worker_device=self.device, merge_devices=True, cluster=config.cluster_spec
        )

    def combine_transfers(self, fetches: StepFetches) -> None:
        """Rewrites the default graph so that tasks send their small tensors together."""
        combine_transfers([getattr(fetches.train_op, "op", fetches.train_op), fetches.loss.op])

    def pace_saves(self, saver: SaverHook, schedule: SaveSchedule) -> None:
        """Makes a chief save early enough for the steps that other workers make meanwhile."""
        if self.shard is not None:
            pace_saves(saver, schedule, self._config, self._steps_between_checks)

    def configure_session(self, settings: tf.compat.v1.ConfigProto, graph: tf.Graph) -> None:
        """Lets a tf.function use variables of parameter servers, if a step calls one."""
        if any(operation.type in _FUNCTION_CALLS for operation in graph.get_operations()):
            settings.experimental.share_cluster_devices_in_session = True

    def wrap_creator(
        self, creator: tf.compat.v1.train.SessionCreator
    ) -> tf.compat.v1.train.SessionCreator:
        """Returns a session creator that waits for the parameter servers."""
        return WaitForPsCreator(self._config, creator)


@dataclasses.dataclass(frozen=True)
class _CallStatus:
    """Status of one task in one call of `train`.

    Attributes:
      table: The status of all tasks.
      task: The name of the task, such as "worker:1".
      call: The number of the call.
    """

    table: StatusTable
    task: str
    call: int

    def report_pause(self, pauses: bool) -> None:
        """Reports whether the task pauses before the final steps."""
        self.table.write(_PAUSES + self.task, self.call if pauses else 0)

    def find_paused(self) -> set[str]:
        """Returns the tasks that pause in this call of `train`, or have ended it."""
        reports = self.table.read().items()
        return {name.removeprefix(_PAUSES) for name, call in reports if call >= self.call}


def _check_shares_variables(config: RunConfig) -> None:
    if config.num_worker_replicas > 1 and not config.num_ps_replicas:
        raise ValueError(
            f"TF_CONFIG has {config.num_worker_replicas} tasks that train, but no `ps` for their "
            "variables and no strategy: each would train a model of its own. Add a ps job, or give "
            "RunConfig(train_distribute=tf.distribute.MultiWorkerMirroredStrategy())."
        )
