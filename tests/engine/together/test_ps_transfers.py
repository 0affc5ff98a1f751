"""Transfers that are sent together: fewer of them, and the same numbers."""

from collections.abc import Iterator

import numpy as np
import pytest
import tensorflow as tf

from estimator_train.engine.together.asynchronous import combine_transfers
from estimator_train.launcher.network import find_free_addresses

v1 = tf.compat.v1
PS, WORKER = "/job:ps/task:0", "/job:worker/task:0"


@pytest.fixture(scope="module")
def target() -> str:
    """Returns the target of a worker; its parameter server runs in this process too."""
    ps, worker = find_free_addresses(2)
    cluster = tf.train.ClusterSpec({"ps": [ps], "worker": [worker]})
    tf.distribute.Server(cluster, job_name="ps", task_index=0)
    return tf.distribute.Server(cluster, job_name="worker", task_index=0).target


@pytest.fixture
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


def make_variable(name: str, values: object, dtype: tf.DType = tf.float32) -> tf.Variable:
    with v1.device(PS):
        return v1.get_variable(name, initializer=tf.constant(values, dtype), use_resource=True)


def build_step() -> tuple[list[tf.Variable], tf.Operation, tf.Tensor]:
    """Returns variables of several types and shapes, and the step and loss of a model."""
    rows = np.arange(24.0).reshape(6, 4)
    tables = [make_variable(f"table{number}", rows + number) for number in range(3)]
    kernel, bias = make_variable("kernel", np.ones([4, 2])), make_variable("bias", [0.5, -1.0])
    scale = make_variable("scale", 0.25, tf.float64)
    count = make_variable("count", 0, tf.int64)
    with v1.device(WORKER):
        # The number of ids differs from step to step.
        ids = tf.range(2 + count % 3, dtype=tf.int64)
        looked_up = [tf.gather(table, (ids * (n + 1)) % 6) for n, table in enumerate(tables)]
        values = tf.add_n([tf.reduce_sum(part, 0, keepdims=True) for part in looked_up])
        outputs = tf.matmul(values, kernel) + bias
        loss = tf.reduce_mean(outputs**2) * tf.cast(scale, tf.float32) * 1e-4
        optimizer = v1.train.AdagradOptimizer(0.1)
        with v1.device(v1.train.replica_device_setter(1, worker_device=WORKER)):
            update = optimizer.minimize(loss, count)
    return [*tables, kernel, bias, scale, count], update, loss


def train(target: str, combines: bool) -> tuple[list[np.ndarray], list[float], int]:
    """Returns the variables after five steps, the losses, and the transfers of a step."""
    with tf.Graph().as_default():
        variables, update, loss = build_step()
        if combines:
            combine_transfers([update, loss.op])
        initializer = v1.global_variables_initializer()
        options, metadata = v1.RunOptions(output_partition_graphs=True), v1.RunMetadata()
        with v1.Session(target) as session:
            session.run(initializer)
            losses = [session.run([loss, update])[0] for _ in range(5)]
            values = session.run(variables)
            session.run([loss, update], options=options, run_metadata=metadata)
    sends = [node for part in metadata.partition_graphs for node in part.node if "Send" in node.op]
    tasks = [(node.attr["send_device"].s, node.attr["recv_device"].s) for node in sends]
    return values, losses, sum(source != target for source, target in tasks)


def test_tensors_that_are_sent_together_keep_their_values(target: str) -> None:
    alone, expected, transfers = train(target, combines=False)
    together, losses, fewer = train(target, combines=True)
    assert losses == expected
    assert len(set(losses)) == 5
    for actual, value in zip(together, alone, strict=True):
        np.testing.assert_array_equal(actual, value)
    assert fewer < transfers / 2


def count_combined(graph: tf.Graph) -> int:
    names = [operation.name for operation in graph.get_operations()]
    return sum(name.startswith("transfers") for name in names)


@pytest.mark.parametrize("waits", ["FIFOQueue", "Switch"])
def test_steps_that_wait_or_branch_are_left_as_they_are(graph: tf.Graph, waits: str) -> None:
    _, update, loss = build_step()
    with v1.device(WORKER):
        if waits == "FIFOQueue":
            more = v1.FIFOQueue(1, tf.float32, []).dequeue()
        else:
            more = tf.raw_ops.Switch(data=loss, pred=tf.constant(True))[0]
    combine_transfers([update, more.op])
    assert count_combined(graph) == 0


def test_large_tensors_and_strings_are_sent_alone(graph: tf.Graph) -> None:
    large = [make_variable(f"large{n}", np.ones(2**17)) for n in range(2)]
    words = [make_variable(f"words{n}", "word", tf.string) for n in range(2)]
    small = [make_variable(f"small{n}", [1.0]) for n in range(2)]
    with v1.device(WORKER):
        taken = [tf.identity(variable) for variable in (*large, *words, *small)]
    sources = [taken_from.op.inputs[0].op for taken_from in taken]
    combine_transfers([tensor.op for tensor in taken])
    assert [tensor.op.inputs[0].op for tensor in taken[:4]] == sources[:4]
    assert all(tensor.op.inputs[0].op.name.startswith("transfers") for tensor in taken[4:])


def test_many_tensors_are_sent_in_parts(graph: tf.Graph) -> None:
    variables = [make_variable(f"v{n}", np.ones(2**16)) for n in range(6)]
    with v1.device(WORKER):
        total = tf.add_n([tf.identity(variable) for variable in variables])
    combine_transfers([total.op])
    joined = [op for op in graph.get_operations() if op.type == "ConcatV2"]
    assert [len(op.inputs) // 2 for op in joined] == [4, 2]  # Counts, words, and the axis.
