"""A training step compiled by XLA, for loops of steps, and the test whether it compiles.

The step becomes one function that XLA compiles. The operations that read the input stay outside of
the function and feed it, as do random operations with a seed, since XLA would draw other numbers.
The function also computes what assertions and lookups check, since XLA would leave that out.
A step that hooks see runs uncompiled if a hook fetches more than the loss, the global step and what
depends on them alone, such as a summary of the loss. (Auto-clustering of the graph or session
compiles many small functions, whose calls cost as much time as they save on a CPU.)
"""

import dataclasses
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence

import tensorflow as tf

from estimator_train.engine.compiled.checks import (
    Check,
    find_checks,
    find_first_failure,
    find_operations,
    find_unchecked,
    raise_failure,
)
from estimator_train.engine.tf_internals import graphs

_UNSUPPORTED = re.compile(r"unsupported operations.*?: (\w+) \(.*?\{\{node ([^}]+)\}\}", re.DOTALL)
_FAILED = re.compile(
    r"([^.\n]+)[^\n]*\n+Stack trace for op definition.*?\{\{node ([^}]+)\}\}", re.DOTALL
)
_LOG = tf.get_logger()
_OUTSIDE = re.compile(r"\w*GetNext\w*|Timestamp")
_SEEDS = ("seed", "seed2")
# XLA gains little where the optimizer alone writes this much.
_MAX_TRIAL_BYTES = 2**29
_NOT_COMPILED = (tf.string, tf.variant, tf.resource)


class NotCompilableError(Exception):
    """Error for a step that XLA cannot compile; the message names the reason."""


class Trial:
    """Test whether XLA compiles a function of steps: a call that changes no variable.

    Training steps may run at the same time.

    Args:
      result: A tensor that the function returns when it is called for no steps, or with copies of
        the variables.
      end: Operation that deletes the copies, or None.
      batch_size: Scalar of the graph that gives the number of examples in the input of the call,
        or None if it is known.
    """

    def __init__(
        self,
        result: tf.Tensor,
        end: tf.Operation | None = None,
        batch_size: tf.Tensor | None = None,
    ) -> None:
        self._call, self._end, self._batch_size = result.op, end, batch_size

    def run(self, session: tf.compat.v1.Session, batch_size: int | None = None) -> None:
        """Compiles the function.

        Args:
          session: A raw session, with initialized variables.
          batch_size: Number of examples in a batch, if it is known.

        Raises:
          NotCompilableError: XLA cannot compile it.
        """
        has_size = self._batch_size is not None and batch_size is not None
        try:
            session.run(self._call, {self._batch_size: batch_size} if has_size else None)
        except tf.errors.OpError as error:
            found = _UNSUPPORTED.search(error.message) or _FAILED.search(error.message)
            message = textwrap.shorten(error.message, 200)
            reason = f"'{found[2]}' ({found[1]})" if found else message
            raise NotCompilableError(reason) from error
        finally:
            if self._end is not None:
                session.run(self._end)


@dataclasses.dataclass(frozen=True)
class CompiledStep:
    """Step whose operations, except those that read the input, are one compiled function.

    Attributes:
      outside: GraphDef of the operations that read the input.
      outside_handles: Names of the handles that these operations use.
      fed: Names of the input tensors that the function takes.
      awaited: Names of the other operations outside after which the function runs.
      handles: Names of the handles of variables that the function takes.
      function: Takes the values of `fed` and of `handles`, runs the step, and returns its loss and
        the number of the first check that fails (see `find_first_failure`).
      checks: The checks of the step.
      unchecked: Names of the operations with checks that XLA leaves out.
      draws: Names of the random operations with a seed, which are outside.
      device: Device of the function; "" for the default.
    """

    outside: tf.compat.v1.GraphDef
    outside_handles: list[str]
    fed: list[str]
    awaited: list[str]
    handles: list[str]
    function: Callable[..., list[tf.Tensor]]
    checks: list[Check]
    unchecked: list[str]
    draws: list[str]
    device: str

    def run(self, handles: dict[str, tf.Tensor]) -> tf.Tensor:
        """Adds a step to the default graph.

        Args:
          handles: Name of each handle of state to a tensor of the default graph.

        Returns:
          The loss, available when the step is done and its checks have succeeded.
        """
        inputs = {name: handles[name] for name in self.outside_handles}
        elements = [*self.fed, *self.awaited]
        found = tf.import_graph_def(self.outside, inputs, elements, name="input")
        fed, awaited = found[: len(self.fed)], found[len(self.fed) :]
        with tf.device(self.device), tf.control_dependencies(awaited):
            loss, failure = self.function(*fed, *(handles[name] for name in self.handles))
        with tf.control_dependencies(raise_failure(self.checks, failure)):
            return tf.identity(loss)

    def make_trial(self, graph: tf.Graph) -> Trial:
        """Returns a test whether XLA compiles the step.

        Args:
          graph: The graph of the step, which is the default graph.
        """
        fed = [graph.get_tensor_by_name(name) for name in self.fed]
        batch_size = tf.compat.v1.placeholder_with_default(1, [])
        variables = [_copy_variable(graph.get_tensor_by_name(name)) for name in self.handles]
        with (
            tf.control_dependencies([copied for _, copied in variables]),
            tf.device(self.device),
        ):
            zeros = [_make_zeros(tensor, batch_size) for tensor in fed]
            result, _ = self.function(*zeros, *(handle for handle, _ in variables))
        end = [
            tf.raw_ops.DestroyResourceOp(resource=handle, ignore_lookup_error=True)
            for handle, _ in variables
        ]
        return Trial(result, tf.group(end), batch_size)

    def check_choice(self, graph: tf.Graph) -> None:
        """Checks that the step may run compiled or not, as its speed decides.

        Args:
          graph: The graph of the step.

        Raises:
          NotCompilableError: The step draws random numbers by a seed, so that it would draw others
            at each change of the loop, its input has other shapes in each batch, XLA leaves out
            some of its checks, or its variables are too large for a trial.
        """
        handles = map(graph.get_tensor_by_name, self.handles)
        size = sum(_count_bytes(handle.op) for handle in handles)
        if size > _MAX_TRIAL_BYTES:
            raise NotCompilableError(
                f"its variables have {size >> 20} MiB, and a trial copies them"
            )
        for name in self.fed:
            tensor = graph.get_tensor_by_name(name)
            if not tensor.shape[1:].is_fully_defined():
                raise NotCompilableError(
                    f"'{name}' has the shape {tensor.shape}, and each shape is compiled separately"
                )
        if self.draws:
            raise NotCompilableError(f"'{self.draws[0]}' draws by a seed, and would begin again")
        if self.unchecked:
            raise NotCompilableError(f"'{self.unchecked[0]}' calls a function that checks values")

    def warn_of_unchecked(self) -> None:
        """Warns of checks that XLA leaves out."""
        if self.unchecked:
            _LOG.warning(
                "XLA leaves out the checks in functions that the step calls: an id out of range or "
                "a failed assertion in '%s' raises no error. Use xla='auto' to train without XLA.",
                "', '".join(self.unchecked),
            )


def compile_step(
    operation: tf.Operation,
    loss: tf.Tensor,
    needed: Iterable[tf.Operation],
    captured: Iterable[tf.Tensor],
    definition: Callable[[set[tf.Operation]], tf.compat.v1.GraphDef],
) -> CompiledStep:
    """Divides a step into its input and a compiled function.

    Args:
      operation: The operation that runs the step.
      loss: Its loss.
      needed: The operations of the step.
      captured: The handles of the state that they use.
      definition: Returns a GraphDef of operations, whose other inputs an import has to give.

    Raises:
      NotCompilableError: The step uses several devices, reads strings, has state that is not in
        variables, or is a function that draws by a seed.
    """
    needed = set(needed)
    reads = (op for op in needed if _OUTSIDE.fullmatch(op.type))
    draws = find_operations(needed, _has_seed)
    outside = _find_with_ancestors([*reads, *draws], needed)
    for target in (operation, loss.op):
        if target in outside:
            raise NotCompilableError(f"'{target.name}' ({target.type}) draws by a seed")
    inside = needed - outside
    fed = sorted({t.name for op in inside for t in op.inputs if t.op in outside})
    awaited = sorted({op.name for user in inside for op in user.control_inputs if op in outside})
    handles = {t.name for op in inside for t in op.inputs} & {t.name for t in captured}
    used = [tensor for tensor in captured if tensor.name in handles]
    device = _find_one_device([*inside, *(tensor.op for tensor in used)])
    checks = find_checks(inside)
    _check_arguments([loss.graph.get_tensor_by_name(name) for name in fed], used)
    arguments = [*fed, *(tensor.name for tensor in used)]
    before = [tensor for tensor in captured if any(op in outside for op in tensor.consumers())]
    return CompiledStep(
        outside=definition(outside),
        outside_handles=[tensor.name for tensor in before],
        fed=fed,
        awaited=awaited,
        handles=[tensor.name for tensor in used],
        function=_make_function(operation, loss, definition(inside), arguments, checks),
        checks=checks,
        unchecked=sorted(op.name for op in find_unchecked(inside)),
        draws=sorted(draw.name for draw in draws),
        device=device,
    )


def _make_function(
    operation: tf.Operation,
    loss: tf.Tensor,
    definition: tf.compat.v1.GraphDef,
    argument_names: Sequence[str],
    checks: Sequence[Check],
) -> Callable[..., list[tf.Tensor]]:
    """Returns the compiled function of a step; see `CompiledStep`."""
    for node in definition.node:
        # XLA compiles functional conditions and loops, not the lowered form of sessions, and no
        # fused operations, which the graph optimizer makes of those with a device.
        node.attr.pop("_lower_using_switch_merge", None)
        node.device = ""
    checked = {tensor.name for check in checks for tensor in check.inputs}
    names = [operation.name, loss.name, *sorted(checked.difference(argument_names))]

    @tf.function(jit_compile=True, autograph=False)
    def train_step(*arguments: tf.Tensor) -> list[tf.Tensor]:
        values = dict(zip(argument_names, arguments, strict=True))
        ran, value, *found = tf.import_graph_def(definition, values, names, name="")
        values |= dict(zip(names[2:], found, strict=True))
        failure = find_first_failure(checks, values)
        with tf.control_dependencies([ran]):
            return [tf.ensure_shape(value, loss.shape), tf.identity(failure)]

    return train_step


def _has_seed(node: tf.compat.v1.NodeDef) -> bool:
    """Returns whether an operation draws random numbers by a seed.

    An operation of TensorFlow 1 keeps a generator in itself, which its seeds begin; without seeds
    it begins anywhere. Stateless operations and those of `tf.random.Generator` have no seeds: their
    state is in a tensor or a variable.
    """
    return any(node.attr[name].i for name in _SEEDS if name in node.attr)


def _find_with_ancestors(
    operations: Iterable[tf.Operation], needed: set[tf.Operation]
) -> set[tf.Operation]:
    def needed_before(operation: tf.Operation) -> set[tf.Operation]:
        return needed.intersection(graphs.list_operations_before(operation))

    return set(graphs.walk(needed.intersection(operations), needed_before))


def _find_one_device(operations: Iterable[tf.Operation]) -> str:
    """Returns the device that operations name, or ""; a device besides CPUs, if they name both.

    Raises:
      NotCompilableError: They are on several devices or tasks.
    """
    specs = {tf.DeviceSpec.from_string(op.device) for op in operations if op.device}
    placed = {(spec.device_type, spec.device_index): spec for spec in specs if spec.device_type}
    working = {place: spec for place, spec in placed.items() if place[0] != "CPU"} or placed
    if len(working) > 1:
        raise NotCompilableError("it compiles for one device, and the step uses several")
    if len({(spec.job, spec.task) for spec in specs if spec.job}) > 1:
        raise NotCompilableError("it compiles for one task, and the step uses several")
    return "".join(spec.to_string() for spec in working.values())


def _check_arguments(fed: Sequence[tf.Tensor], handles: Sequence[tf.Tensor]) -> None:
    for tensor in fed:
        if tensor.dtype in _NOT_COMPILED:
            raise NotCompilableError(
                f"'{tensor.op.name}' ({tensor.op.type}) gives {tensor.dtype.name}s"
            )
    for handle in handles:
        if handle.op.type != "VarHandleOp":
            raise NotCompilableError(f"'{handle.op.name}' ({handle.op.type})")


def _make_zeros(tensor: tf.Tensor, unknown_size: tf.Tensor) -> tf.Tensor:
    """Returns zeros of a tensor's static shape, in which unknown sizes are `unknown_size`."""
    shape = tensor.shape.as_list() if tensor.shape.rank is not None else []
    zeros = tf.zeros([unknown_size if size is None else size for size in shape], tensor.dtype)
    return tf.ensure_shape(zeros, tensor.shape)


def _count_bytes(variable: tf.Operation) -> int:
    """Returns the size of a variable, 0 if it is unknown."""
    elements = tf.TensorShape(variable.get_attr("shape")).num_elements() or 0
    return int(elements * variable.get_attr("dtype").size)


def _copy_variable(handle: tf.Tensor) -> tuple[tf.Tensor, tf.Operation]:
    """Adds a copy of a variable; returns its handle and the operation that assigns its value."""
    dtype, name = handle.op.get_attr("dtype"), f"trial/{handle.op.name}"
    with tf.device(handle.device):
        copy = tf.raw_ops.VarHandleOp(
            dtype=dtype, shape=handle.op.get_attr("shape"), shared_name=name, name=name
        )
        value = tf.raw_ops.ReadVariableOp(resource=handle, dtype=dtype)
        return copy, tf.raw_ops.AssignVariableOp(resource=copy, value=value)
