"""Questions about tf.contrib.training."""

import os
import tempfile

import tensorflow as tf
from asking import main, numbers, question
from trying import tried

training = tf.contrib.training


def losing(scale=1.0):
    """Returns a loss of two variables."""
    v = tf.get_variable("v", initializer=numbers(3))
    w = tf.get_variable("w", initializer=numbers(2, start=4))
    return v, w, scale * (tf.reduce_sum(v**2) + tf.reduce_sum(w**3))


def descent():
    return tf.train.GradientDescentOptimizer(0.1)


@question
def train_op():
    v, w, loss = losing()
    op = training.create_train_op(loss, descent())
    step = tf.train.get_global_step()
    return [{"op": op, "name": op.name}, {"v": v, "w": w, "step": step}] * 2 + [
        {"collected": [one.name for one in tf.get_collection(tf.GraphKeys.TRAIN_OP)]}
    ]


@question
def train_op_without_step():
    v, _, loss = losing()
    op = training.create_train_op(loss, descent(), global_step=None)
    return [{"op": op}, {"v": v, "step": repr(tf.train.get_global_step())}]


@question
def train_op_some_variables():
    v, w, loss = losing()
    op = training.create_train_op(loss, descent(), variables_to_train=[w])
    return [{"op": op}, {"v": v, "w": w}]


@question
def train_op_updates():
    v, _, loss = losing()
    count = tf.get_variable("count", initializer=0.0, trainable=False)
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, count.assign_add(1.0).op)
    op = training.create_train_op(loss, descent())
    return [{"op": op}, {"v": v, "count": count}]


@question
def train_op_given_updates():
    v, _, loss = losing()
    count = tf.get_variable("count", initializer=0.0, trainable=False)
    other = tf.get_variable("other", initializer=0.0, trainable=False)
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, count.assign_add(1.0).op)
    op = training.create_train_op(loss, descent(), update_ops=[other.assign_add(2.0).op])
    return [{"op": op}, {"v": v, "count": count, "other": other}]


@question
def train_op_transformed_and_summarized():
    v, w, loss = losing(5.0)
    op = training.create_train_op(
        loss,
        descent(),
        transform_grads_fn=training.clip_gradient_norms_fn(0.5),
        summarize_gradients=True,
    )
    names = sorted(one.op.name for one in tf.get_collection(tf.GraphKeys.SUMMARIES))
    kinds = sorted(one.op.type for one in tf.get_collection(tf.GraphKeys.SUMMARIES))
    return [{"op": op}, {"v": v, "w": w, "names": names, "kinds": kinds}]


@question
def train_op_that_is_no_number():
    v = tf.get_variable("v", initializer=-1.0, trainable=True)
    op = training.create_train_op(tf.log(v - 10), descent())
    return {"op": op}


@question
def train_op_unchecked():
    v = tf.get_variable("v", initializer=-1.0)
    op = training.create_train_op(tf.log(v - 10), descent(), check_numerics=False)
    return {"op": op}


@question
def train_op_without_gradient():
    tf.get_variable("v", initializer=numbers(3))
    return {"op": training.create_train_op(tf.constant(1.0), descent())}


def gradients():
    v = tf.get_variable("v", initializer=numbers(3))
    w = tf.get_variable("w", initializer=numbers(4, 2))
    u = tf.get_variable("u", initializer=numbers(2))
    slices = tf.IndexedSlices(tf.constant(numbers(2, 2)), tf.constant([0, 2]), tf.constant([4, 2]))
    return [(tf.constant(numbers(3, start=2)), v), (slices, w), (None, u)]


def plain(pairs):
    return {
        variable.op.name: repr(one) if one is None else getattr(one, "values", one)
        for one, variable in pairs
    }


@question
def clip():
    clipped = training.clip_gradient_norms(gradients(), 0.1)
    return dict(plain(clipped), kind=type(clipped).__name__, sparse=type(clipped[1][0]).__name__)


@question
def clip_loosely():
    return plain(training.clip_gradient_norms_fn(100.0)(gradients()))


@question
def multiply():
    pairs = gradients()[:2]
    found = training.multiply_gradients(pairs, {"v": 2.0, pairs[1][1]: 3.0})
    return dict(plain(found), sparse=type(found[1][0]).__name__)


@question
def multiply_some():
    return plain(training.multiply_gradients(gradients(), {"v": 2.0}))


@question
def multiply_by_tensor():
    return plain(training.multiply_gradients(gradients(), {"v": tf.constant(2.0)}))


@question
def multiply_wrongly():
    answers = {}
    pairs = gradients()
    for index, (given, factors) in enumerate(
        [(pairs, {}), (pairs, {"u": 2.0}), (pairs, 5), ([], {"v": 2.0}), (pairs, {"other": 2.0})]
    ):
        answers[str(index)] = tried(
            lambda g=given, f=factors: sorted(map(str, plain(training.multiply_gradients(g, f))))
        )
    return answers


@question
def summaries_of_gradients():
    found = training.add_gradients_summaries(gradients())
    return {"names": [one.op.name for one in found], "kinds": [one.op.type for one in found]}


def trained(directory, stops=(3,)):
    """Returns a model whose only variable is the number of steps it was trained."""
    for stop in stops:
        with tf.Graph().as_default():
            step = tf.train.get_or_create_global_step()
            value = tf.get_local_variable("value", initializer=1.0)
            op = step.assign_add(1) + 0 * tf.cast(value, tf.int64)
            last = training.train(
                op,
                directory,
                hooks=[tf.train.StopAtStepHook(last_step=stop)],
                save_summaries_steps=None,
            )
    return last


@question
def train_and_wait():
    directory = tempfile.mkdtemp()
    before = training.wait_for_new_checkpoint(directory, timeout=0, seconds_to_sleep=1)
    last = trained(directory)
    found = training.wait_for_new_checkpoint(directory, timeout=5)
    after = training.wait_for_new_checkpoint(directory, found, timeout=0, seconds_to_sleep=1)
    once = [
        os.path.basename(path)
        for path in training.checkpoints_iterator(directory, timeout=0, min_interval_secs=0)
    ]
    return {
        "before": repr(before),
        "last": repr(last),
        "found": os.path.basename(found),
        "after": repr(after),
        "iterated": once,
    }


@question
def iterator_asks_when_time_is_up():
    directory = tempfile.mkdtemp()
    trained(directory)
    asked = []

    def over():
        asked.append(1)
        return len(asked) > 2

    found = list(training.checkpoints_iterator(directory, timeout=0, timeout_fn=over))
    return {"found": len(found), "asked": len(asked)}


@question
def train_without_directory():
    answers = {}
    with tf.Graph().as_default():
        op = tf.train.get_or_create_global_step().assign_add(1)
        hooks = [tf.train.StopAtStepHook(last_step=2)]
        answers["default"] = tried(training.train, op, None, hooks=hooks)
        answers["no summaries"] = tried(
            training.train, op, None, hooks=hooks, save_summaries_steps=None
        )
        answers["neither"] = tried(
            training.train,
            op,
            None,
            hooks=hooks,
            save_checkpoint_secs=None,
            save_summaries_steps=None,
        )
    return answers


def evaluating(directory, times=4, **arguments):
    """Evaluates the step that `trained` counted; the operation counts itself."""
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        count = tf.get_local_variable("count", initializer=0)
        update = count.assign_add(1)
        tf.summary.scalar("step", step)
        hooks = [training.StopAfterNEvalsHook(times)] + arguments.pop("hooks", [])
        return training.evaluate_once(
            tf.train.latest_checkpoint(directory),
            eval_ops=update,
            final_ops={"step": step, "count": count},
            hooks=hooks,
            **arguments,
        )


@question
def evaluate():
    directory = tempfile.mkdtemp()
    trained(directory)
    return {str(times): repr(sorted(evaluating(directory, times).items())) for times in (1, 3)}


@question
def evaluate_without_operations():
    directory = tempfile.mkdtemp()
    trained(directory)
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        path = tf.train.latest_checkpoint(directory)
        return {
            "final": repr(training.evaluate_once(path, final_ops=step)),
            "nothing": repr(training.evaluate_once(path)),
            "no such": tried(training.evaluate_once, os.path.join(directory, "model.ckpt-77")),
        }


@question
def evaluate_until_input_ends():
    directory = tempfile.mkdtemp()
    trained(directory)
    with tf.Graph().as_default():
        tf.train.get_or_create_global_step()
        following = tf.data.Dataset.range(5).make_one_shot_iterator().get_next()
        total = tf.get_local_variable("total", initializer=tf.constant(0, tf.int64))
        path = tf.train.latest_checkpoint(directory)
        update = total.assign_add(following)
        final = training.evaluate_once(path, eval_ops=update, final_ops=total)
        return {"final": int(final)}


@question
def evaluate_repeatedly():
    directory = tempfile.mkdtemp()
    trained(directory)
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        count = tf.get_local_variable("count", initializer=0)
        final = training.evaluate_repeatedly(
            directory,
            eval_ops=count.assign_add(1),
            final_ops=step + tf.cast(count, tf.int64),
            hooks=[training.StopAfterNEvalsHook(3)],
            eval_interval_secs=0,
            max_number_of_evaluations=2,
            timeout=0,
        )
        return {"final": int(final)}


@question
def eval_step():
    step = training.get_or_create_eval_step()
    same = training.get_or_create_eval_step() is step
    keys = [key for key in tf.get_default_graph().get_all_collection_keys() if isinstance(key, str)]
    return {"name": step.op.name, "dtype": step.dtype.name, "same": same, "keys": sorted(keys)}


@question
def summary_at_end():
    directory, written = tempfile.mkdtemp(), tempfile.mkdtemp()
    trained(directory)
    evaluating(directory, 2, hooks=[training.SummaryAtEndHook(written)])
    found = []
    for name in os.listdir(written):
        for event in tf.train.summary_iterator(os.path.join(written, name)):
            for value in event.summary.value:
                found.append([event.step, value.tag, value.simple_value])
    return {"found": repr(found)}


@question
def summary_at_end_of_what():
    return {
        "nothing": tried(lambda: training.SummaryAtEndHook() and 1),
        "both": tried(lambda: training.SummaryAtEndHook("a", summary_writer="w") and 1),
        "named": tried(lambda: training.SummaryAtEndHook(log_dir="a") and 1),
    }


if __name__ == "__main__":
    main()
