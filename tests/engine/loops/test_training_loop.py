"""Steps in loops fall where single steps fall: the same values, files and lines for any K.

These tests cover `engine/types.py` and `loops/step_runner.py`.
"""

import numpy as np
import pytest
import tensorflow as tf
import tiers

import estimator_train as est
from estimator_train.engine.loops.graph_loop import build_loop
from estimator_train.engine.loops.hook_schedule import (
    after_loop,
    sees_every_step,
    steps_until_due,
)
from estimator_train.engine.loops.sub_graph import NotLoopableError


def summaries(directory):
    found = []
    for path in sorted(directory.glob("events*")):
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            found += [
                (event.step, value.tag, None if "/sec" in value.tag else value.simple_value)
                for value in event.summary.value
            ]
    return found


def config(k, **settings):
    settings = {"save_summary_steps": 7, "log_step_count_steps": 10} | settings
    return est.RunConfig(tf_random_seed=1, steps_per_loop=k, **settings)


class EveryFive(est.SessionRunHook):
    """Hook that permits loops: it needs every fifth step."""

    def __init__(self):
        self.seen, self.skipped = [], 0

    def begin(self):
        self.step = tf.compat.v1.train.get_global_step()

    def steps_until_due(self, global_step):
        return 5 - global_step % 5

    def after_loop(self, steps, loss):
        assert np.isfinite(loss)
        self.skipped += steps

    def after_run(self, run_context, run_values):
        self.seen.append(int(run_context.session.run(self.step)))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Trains a small ConvNet with batch norm and Adam for 50 steps, for each K."""
    rng = np.random.RandomState(0)
    x, y = rng.rand(96, 8, 8, 1).astype(np.float32), rng.randint(0, 3, 96)

    def input_fn():
        data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(96, seed=3).repeat()
        return data.batch(16).prefetch(2)

    def model_fn(features, labels, mode):
        kernel = tf.compat.v1.get_variable("kernel", [3, 3, 1, 4])
        net = tf.nn.conv2d(features, kernel, 1, "SAME")
        mean, variance = tf.nn.moments(net, [0, 1, 2])
        moving = tf.compat.v1.get_variable("moving", [4], trainable=False)
        net = tf.nn.relu((net - mean) * tf.math.rsqrt(variance + 1e-3))
        head = tf.compat.v1.get_variable("head", [4, 3])
        logits = tf.matmul(tf.reduce_mean(net, [1, 2]), head)
        loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)
        optimizer = tf.compat.v1.train.AdamOptimizer(0.01)
        before = tf.identity(moving)  # Read once: a second read would race with the assignment.
        with tf.control_dependencies([moving.assign(0.9 * before + 0.1 * mean)]):
            train_op = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
        tf.compat.v1.summary.scalar("drift", tf.reduce_mean(before))
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op)

    found = {}
    for k in (1, 3, 100, "auto"):
        directory = tmp_path_factory.mktemp(f"k{k}")
        estimator = est.Estimator(model_fn, directory, config(k, save_checkpoints_steps=20))
        estimator.train(input_fn, max_steps=50)
        names = estimator.get_variable_names()
        values = {name: estimator.get_variable_value(name) for name in names}
        files = sorted(p.name for p in directory.glob("model.ckpt-*.index"))
        found[k] = {"values": values, "files": files, "summaries": summaries(directory)}
    return found


@pytest.mark.parametrize("k", [3, 100, "auto"])
def test_any_k_gives_the_same_bits_files_and_summaries(runs, k):
    one, other = runs[1], runs[k]
    assert one["files"] == other["files"] == [f"model.ckpt-{n}.index" for n in (0, 20, 40, 50)]
    assert one["values"].keys() == other["values"].keys()
    for name, value in one["values"].items():
        np.testing.assert_array_equal(value, other["values"][name], err_msg=name)
    assert one["summaries"] == other["summaries"]
    drift_steps = [step for step, tag, _ in one["summaries"] if tag == "drift"]
    assert drift_steps == list(range(1, 51, 7))


@pytest.mark.parametrize("k", tiers.first({"auto"}, [1, "auto"]))
def test_lines_of_the_log_name_the_same_steps(model_fn, input_fn, tmp_path, caplog, k):
    caplog.set_level("INFO", "tensorflow")
    est.Estimator(model_fn, tmp_path, config(k)).train(input_fn, max_steps=45)
    lines = [r.getMessage() for r in caplog.records if r.getMessage().startswith("loss = ")]
    assert [int(line.split("step = ")[1].split()[0]) for line in lines] == [0, 10, 20, 30, 40]


@pytest.mark.parametrize("k", tiers.first({4}, [1, 4, "auto"]))
def test_end_of_input_comes_after_the_same_step_with_the_same_loss(
    model_fn, one_epoch, tmp_path, caplog, k
):
    caplog.set_level("INFO", "tensorflow")
    estimator = est.Estimator(model_fn, tmp_path, config(k)).train(one_epoch)
    assert estimator.get_variable_value("global_step") == 8
    assert [m for m in caplog.messages if "input ended" in m] == [
        "The input ended at global step 8."
    ]
    final = [r.getMessage() for r in caplog.records if "Loss for final step" in r.getMessage()]
    single = est.Estimator(model_fn, tmp_path / "single", config(1)).train(one_epoch)
    np.testing.assert_array_equal(estimator.get_variable_value("w"), single.get_variable_value("w"))
    again = [r.getMessage() for r in caplog.records if "Loss for final step" in r.getMessage()]
    assert again == final * 2


@pytest.mark.parametrize(
    ("max_steps", "lines"),
    [(8, []), (12, ["The input ended at global step 8, before step 12."])],
)
def test_the_log_tells_that_the_input_ended_before_the_last_step(
    model_fn, one_epoch, tmp_path, caplog, max_steps, lines
):
    caplog.set_level("INFO", "tensorflow")
    est.Estimator(model_fn, tmp_path).train(one_epoch, max_steps=max_steps)
    assert [m for m in caplog.messages if "input ended" in m] == lines


@pytest.mark.parametrize("max_steps", [None, 20])
def test_the_log_names_the_last_step_of_an_input_if_steps_are_counted_twice(
    model_fn, one_epoch, tmp_path, caplog, max_steps
):
    def count_twice(features, labels, mode):
        spec = model_fn(features, labels, mode)
        with tf.control_dependencies([spec.train_op]):
            again = tf.compat.v1.assign_add(tf.compat.v1.train.get_global_step(), 1)
        return spec._replace(train_op=again)

    caplog.set_level("INFO", "tensorflow")
    job = est.Estimator(count_twice, tmp_path).train(one_epoch, max_steps=max_steps)
    assert job.get_variable_value("global_step") == 16
    assert [m for m in caplog.messages if "input ended" in m] == [
        "The input ended after the step that began at global step 14."
    ]


def test_a_hook_with_step_methods_sees_the_steps_that_it_requests(model_fn, input_fn, tmp_path):
    hook = EveryFive()
    settings = config("auto", save_summary_steps=None, log_step_count_steps=None)
    est.Estimator(model_fn, tmp_path, settings).train(input_fn, steps=22, hooks=[hook])
    assert hook.seen == [1, 5, 10, 15, 20, 22]  # The first shows that the counter counts steps.
    assert hook.skipped == 22 - len(hook.seen)


def test_a_hook_without_cadence_sees_every_step_and_a_log_line_names_it(
    model_fn, input_fn, tmp_path, caplog
):
    caplog.set_level("INFO", "tensorflow")

    class Legacy(est.SessionRunHook):
        runs = 0

        def after_run(self, run_context, run_values):
            self.runs += 1

    hook = Legacy()
    est.Estimator(model_fn, tmp_path).train(input_fn, steps=30, hooks=[hook])
    assert hook.runs == 30
    assert "Training runs one step per session call: Legacy must see every step" in caplog.text


def test_a_step_that_cannot_loop_logs_only_that(input_fn, tmp_path, caplog):
    caplog.set_level("INFO", "tensorflow")

    def model_fn(features, labels, mode):
        step = tf.compat.v1.train.get_global_step()
        queue = tf.queue.FIFOQueue(2, [tf.float32], [[]])
        with tf.control_dependencies([queue.enqueue(1.0)]):
            loss = queue.dequeue()
        return est.EstimatorSpec(mode, loss=loss, train_op=step.assign_add(1))

    est.Estimator(model_fn, tmp_path).train(input_fn, steps=9)
    lines = [line for line in caplog.messages if "session call" in line]
    assert len(lines) == 1
    assert lines[0].startswith("Training runs one step per session call: ")


@pytest.mark.parametrize("k", [30, 25])
def test_a_loop_size_that_does_not_divide_the_interval_is_logged_once(
    model_fn, input_fn, tmp_path, caplog, k
):
    caplog.set_level("INFO", "tensorflow")
    settings = est.RunConfig(steps_per_loop=k)
    est.Estimator(model_fn, tmp_path, settings).train(input_fn, steps=400)
    said = [r.getMessage() for r in caplog.records if "does not divide" in r.getMessage()]
    assert said == (k == 30) * [
        "steps_per_loop=30 does not divide the 100 steps from one that StepRateHook must see to "
        "the next; the last session call before it runs 10."
    ]


def test_nan_inside_a_loop_stops_at_its_step(input_fn, tmp_path):
    def model_fn(features, labels, mode):
        step = tf.compat.v1.train.get_global_step()
        w = tf.compat.v1.get_variable("w", [], initializer=tf.compat.v1.zeros_initializer())
        loss = tf.where(step >= 33, np.float32(np.nan), 1.0) + w
        train_op = tf.group(step.assign_add(1), w.assign_add(0.0))
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op)

    for k in (1, "auto"):
        settings = config(k, save_checkpoints_steps=30, log_step_count_steps=100)
        estimator = est.Estimator(model_fn, tmp_path / str(k), settings)
        with pytest.raises(est.NanLossDuringTrainingError):
            estimator.train(input_fn, steps=100)
        assert estimator.get_variable_value("global_step") == 30


def fed(loss):
    return loss + tf.compat.v1.placeholder(tf.float32, [], name="rate")


def queued(loss):
    queue = tf.queue.FIFOQueue(1, tf.float32, shapes=[[]], name="source")
    return loss + queue.dequeue()


def of_reference(loss):
    old = tf.compat.v1.Variable(1.0, use_resource=False, name="old")
    return loss + tf.identity(tf.compat.v1.assign(old, [2.0], validate_shape=False, name="grow"))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (fed, "the placeholder 'rate' must be fed at every step"),
        (queued, "'source_Dequeue' reads a queue"),
        (of_reference, r"'grow' \(Assign\) changes a reference variable"),
    ],
)
def test_operations_that_cannot_run_in_a_loop_are_named(change, reason):
    with tf.Graph().as_default():
        loss = change(tf.constant(1.0))
        with pytest.raises(NotLoopableError, match=reason):
            build_loop(tf.no_op(), loss)


def test_a_step_that_moves_the_counter_otherwise_runs_single_steps(tmp_path, caplog):
    caplog.set_level("INFO", "tensorflow")

    def model_fn(features, labels, mode):
        w = tf.compat.v1.get_variable("w", [], initializer=tf.compat.v1.zeros_initializer())
        by_two = tf.compat.v1.train.get_global_step().assign_add(2)
        return est.EstimatorSpec(
            mode, loss=w + features, train_op=tf.group(by_two, w.assign_add(1.0))
        )

    found = {}
    for k in (1, "auto"):
        estimator = est.Estimator(model_fn, tmp_path / str(k), config(k))
        estimator.train(lambda: tf.data.Dataset.from_tensors(0.0).repeat(), max_steps=40)
        found[k] = [estimator.get_variable_value(name) for name in ("global_step", "w")]
    assert found["auto"] == found[1] == [42, 21.0]
    assert "does not increment the global step by one" in caplog.text


def test_a_loss_without_a_static_shape_runs_in_a_loop():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        count = tf.compat.v1.get_variable("n", initializer=0.0, use_resource=True)
        loss = tf.compat.v1.placeholder_with_default(tf.constant(2.0), None)
        loop = build_loop(count.assign_add(1.0).op, loss)
        session.run(count.initializer)
        assert loop.run(session, 3)[:2] == (3, 2.0)
        assert session.run(count) == 3.0


class _StartAndEnd(est.SessionRunHook):
    """Hook that acts at the start and at the end of a session alone."""

    def __init__(self):
        self.called = []

    def after_create_session(self, session, coord):
        self.called.append("start")

    def end(self, session):
        self.called.append("end")


def test_a_hook_without_step_methods_keeps_loops():
    hook = _StartAndEnd()
    assert not sees_every_step(hook)
    assert steps_until_due(hook, 7) is None
    assert after_loop(hook, 7, 3, 0.5) is False
    hook.after_run = lambda run_context, run_values: hook.called.append("step")
    assert sees_every_step(hook)
    assert steps_until_due(hook, 7) == 1


def test_the_nan_hook_of_tensorflow_sees_the_loss_of_a_loop():
    train = tf.compat.v1.train
    stops, fails = (train.NanTensorHook(tf.constant(0.0), how) for how in (False, True))
    assert after_loop(stops, 7, 3, 0.5) is False
    assert after_loop(stops, 7, 3, np.float32(np.nan)) is True
    with pytest.raises(train.NanLossDuringTrainingError):
        after_loop(fails, 7, 3, np.float32(np.nan))


def test_steps_run_in_one_call_with_a_hook_that_overrides_no_step_method(tmp_path):
    def model_fn(features, labels, mode):
        step = tf.compat.v1.train.get_global_step()
        train_op = tf.compat.v1.assign_add(step, 1).op
        return est.EstimatorSpec(mode, loss=tf.reduce_sum(features), train_op=train_op)

    def input_fn():
        return tf.data.Dataset.from_tensors([1.0]).repeat()

    hook, watch = _StartAndEnd(), EveryFive()
    hooks = [hook, watch]
    est.Estimator(model_fn, tmp_path).train(input_fn, hooks, steps=20)
    assert hook.called == ["start", "end"]
    assert watch.skipped >= 14


def test_the_loop_is_built_after_the_first_step(model_fn, input_fn, tmp_path):
    class Types(est.SessionRunHook):
        """Hook that stores at each step that it sees whether the graph has a loop."""

        found = []

        def steps_until_due(self, global_step):
            return 4

        def after_run(self, run_context, run_values):
            graph = run_context.session.graph
            self.found.append(any("While" in op.type for op in graph.get_operations()))

    est.Estimator(model_fn, tmp_path, config("auto")).train(input_fn, [Types()], steps=12)
    assert Types.found == [False, True, True, True, True]
    saved = tf.compat.v1.MetaGraphDef()
    saved.ParseFromString((tmp_path / "model.ckpt-0.meta").read_bytes())
    assert not [node for node in saved.graph_def.node if "While" in node.op]
