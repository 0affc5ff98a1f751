"""Questions about the loops of tf.contrib.slim: `learning.train` and `evaluation`."""

import logging
import os
import re
import tempfile

import tensorflow as tf
from asking import main, question, signature
from trying import tried

slim = tf.contrib.slim


class Lines(logging.Handler):
    """Collects log lines of a loop, without times and paths."""

    def __init__(self):
        logging.Handler.__init__(self)
        self.lines = []

    def emit(self, record):
        text = re.sub(r"\([0-9.]+ sec", "(SECS sec", record.getMessage())
        text = re.sub(r"(Stopping Training\.).*", r"\1", text, flags=re.DOTALL)
        if re.match(r"Start|Stop|Caught|Finish|global step |Writing", text):
            self.lines.append(re.sub(r"( (at|to) ).*", r"\1...", text))

    def __enter__(self):
        self.logger = logging.getLogger("tensorflow")
        self.verbosity = tf.logging.get_verbosity()
        tf.logging.set_verbosity(tf.logging.INFO)
        self.logger.addHandler(self)
        return self

    def __exit__(self, *error):
        self.logger.removeHandler(self)
        tf.logging.set_verbosity(self.verbosity)


def fitting(steps_of_input=None):
    """Returns the training operation of one weight, whose loss falls at each step."""
    weight = tf.get_variable("weight", initializer=4.0)
    x = tf.constant(1.0)
    if steps_of_input:
        x = tf.train.limit_epochs(tf.constant(1.0), steps_of_input)
    loss = tf.identity(tf.square(weight * x), name="loss")
    tf.summary.scalar("loss", loss)
    return slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.25))


def files(directory):
    """Lists the files of a training, of checkpoints those of the last.

    A thread saves the first checkpoint while the training runs: its step differs between runs.
    """
    latest = os.path.basename(tf.train.latest_checkpoint(directory) or "none")
    names = [
        name
        for name in sorted(os.listdir(directory))
        if not name.startswith("model.ckpt-") or name.startswith(latest + ".")
    ]
    return [re.sub(r"tfevents.*", "tfevents", name) for name in names]


def tags(directory):
    found = []
    for name in sorted(os.listdir(directory)):
        if "tfevents" in name:
            for event in tf.train.summary_iterator(os.path.join(directory, name)):
                found += [
                    [value.tag, event.step]
                    for value in event.summary.value
                    if not value.tag.startswith("global_step/sec")
                ]
    return sorted(found)


def of_checkpoint(directory):
    reader = tf.train.load_checkpoint(directory)
    return {name: reader.get_tensor(name).tolist() for name in reader.get_variable_to_shape_map()}


def train(directory, steps, op=None, **named):
    """Trains in a graph; returns the result."""
    with tf.Graph().as_default():
        op = fitting() if op is None else op()
        return slim.learning.train(op, directory, number_of_steps=steps, **named)


@question
def signatures():
    functions = [
        slim.learning.train,
        slim.learning.train_step,
        slim.evaluation.evaluate_once,
        slim.evaluation.evaluation_loop,
        slim.evaluation.wait_for_new_checkpoint,
        slim.evaluation.checkpoints_iterator,
    ]
    return {function.__name__: repr(signature(function)) for function in functions}


@question
def training():
    directory = tempfile.mkdtemp()
    with Lines() as log:
        loss = train(directory, 3)
    return {
        "loss": float(loss),
        "files": repr(files(directory)),
        "saved": repr(sorted(of_checkpoint(directory).items())),
        "tags": repr(sorted({tag for tag, _ in tags(directory)})),
        "lines": repr(log.lines),
    }


@question
def training_goes_on():
    directory = tempfile.mkdtemp()
    losses = [float(train(directory, steps)) for steps in (2, 4)]
    again = train(directory, 4)
    return {
        "losses": repr(losses),
        "again": repr(again),
        "saved": repr(sorted(of_checkpoint(directory).items())),
        "latest": os.path.basename(tf.train.latest_checkpoint(directory)),
    }


@question
def log_every_n_steps():
    with Lines() as log:
        train(tempfile.mkdtemp(), 5, log_every_n_steps=2)
    return {"lines": repr(log.lines)}


@question
def without_logdir():
    with Lines() as log:
        loss = train(None, 2)
    return {"loss": float(loss), "lines": repr(log.lines)}


@question
def step_function_of_the_program():
    seen = []

    def step(session, op, global_step, kwargs):
        seen.append(sorted((key, isinstance(value, tf.Tensor)) for key, value in kwargs.items()))
        loss, stop = slim.learning.train_step(session, op, global_step, kwargs)
        seen.append([float(loss), bool(stop)])
        return loss, loss < 1

    loss = train(tempfile.mkdtemp(), 10, train_step_fn=step)
    return {"loss": float(loss), "seen": repr(seen)}


@question
def arguments_of_the_step_function():
    seen = []

    def step(session, op, global_step, kwargs):
        seen.append(sorted(kwargs))
        return session.run(op), len(seen) == 3

    loss = train(tempfile.mkdtemp(), None, train_step_fn=step, train_step_kwargs={"a": 1})
    return {"loss": float(loss), "seen": repr(seen)}


@question
def first_values():
    seen = []
    with tf.Graph().as_default():
        op = fitting()
        weight = tf.trainable_variables()[0]

        def init(session):
            seen.append(float(session.run(weight)))
            weight.load(2.0, session)

        loss = slim.learning.train(op, tempfile.mkdtemp(), number_of_steps=1, init_fn=init)
    return {"loss": float(loss), "seen": repr(seen)}


@question
def fed_first_values():
    with tf.Graph().as_default():
        given = tf.placeholder(tf.float32, [])
        weight = tf.get_variable("weight", initializer=given)
        optimizer = tf.train.GradientDescentOptimizer(0.25)
        loss = tf.square(weight * tf.constant(1.0))
        op = slim.learning.create_train_op(loss, optimizer)
        loss = slim.learning.train(
            op,
            tempfile.mkdtemp(),
            number_of_steps=1,
            init_op=tf.global_variables_initializer(),
            init_feed_dict={given: 6.0},
        )
    return {"loss": float(loss)}


@question
def end_of_input():
    directory = tempfile.mkdtemp()
    with Lines() as log:
        loss = tried(lambda: float(train(directory, None, lambda: fitting(3))))
    return {
        "loss": repr(loss),
        "saved": repr(sorted(of_checkpoint(directory).items())),
        "lines": repr(log.lines),
    }


@question
def wrapped_session():
    kinds = []

    def wrap(session):
        kinds.append(hasattr(session, "run"))
        return session

    loss = train(tempfile.mkdtemp(), 1, session_wrapper=wrap)
    return {"loss": float(loss), "kinds": repr(kinds)}


@question
def traces():
    directory = tempfile.mkdtemp()
    with Lines() as log:
        train(directory, 3, trace_every_n_steps=2)
    return {"files": repr(files(directory)), "lines": repr(log.lines)}


@question
def saver_of_the_program():
    directory = tempfile.mkdtemp()
    with tf.Graph().as_default():
        op = fitting()
        saver = tf.train.Saver([tf.train.get_global_step()])
        slim.learning.train(op, directory, number_of_steps=2, saver=saver)
    return {"saved": repr(sorted(of_checkpoint(directory).items()))}


@question
def without_summaries():
    directory = tempfile.mkdtemp()
    train(directory, 2, summary_op=None)
    return {"tags": repr(tags(directory)), "files": repr(files(directory))}


@question
def refusals():
    directory = tempfile.mkdtemp()

    return {
        "no operation": repr(tried(lambda: slim.learning.train(None, directory))),
        "no operation nor logdir": repr(tried(lambda: slim.learning.train(None, None))),
        "trace": repr(tried(lambda: train(None, 1, trace_every_n_steps=1))),
        "delay": repr(tried(lambda: train(None, 1, startup_delay_steps=1, sync_optimizer=1))),
        "writer": repr(tried(lambda: train(None, 1, summary_writer=1))),
        "no list": repr(tried(lambda: train(directory, 1, sync_optimizer=[1, 2]))),
    }


def evaluating():
    """Builds the graph of an evaluation; returns the mean and its update."""
    weight = tf.get_variable("weight", initializer=0.0)
    tf.train.get_or_create_global_step()
    mean, update = tf.metrics.mean(weight)
    tf.summary.scalar("mean", mean)
    return weight, mean, update


@question
def one_evaluation():
    directory, results = tempfile.mkdtemp(), tempfile.mkdtemp()
    train(directory, 2)
    with tf.Graph().as_default(), Lines() as log:
        weight, mean, update = evaluating()
        value = slim.evaluation.evaluate_once(
            "",
            tf.train.latest_checkpoint(directory),
            results,
            num_evals=3,
            eval_op=update,
            final_op=[mean, weight],
        )
    return {
        "value": repr([float(one) for one in value]),
        "files": repr(files(results)),
        "tags": repr(tags(results)),
        "lines": repr(log.lines),
    }


@question
def evaluation_of_some_variables():
    directory, results = tempfile.mkdtemp(), tempfile.mkdtemp()
    train(directory, 2)
    with tf.Graph().as_default():
        weight, _, update = evaluating()
        other = tf.get_variable("other", initializer=7.0)
        value = slim.evaluation.evaluate_once(
            "",
            tf.train.latest_checkpoint(directory),
            results,
            initial_op=tf.global_variables_initializer(),
            eval_op=update,
            final_op={"weight": weight, "other": other},
            summary_op=None,
            variables_to_restore=[weight],
        )
    return {
        "value": repr(tried(lambda: sorted((k, float(v)) for k, v in value.items()))),
        "tags": repr(tags(results)),
    }


@question
def evaluations_of_graphs_without_a_global_step():
    directory = tempfile.mkdtemp()
    train(directory, 2)
    found = {}
    for has_summary in (True, False):
        results = tempfile.mkdtemp()
        with tf.Graph().as_default():
            mean, update = tf.metrics.mean(tf.get_variable("weight", initializer=0.0))
            if has_summary:
                tf.summary.scalar("mean", mean)
            arguments = {"eval_op": update, "final_op": mean, "num_evals": 1}
            path = tf.train.latest_checkpoint(directory)
            once = slim.evaluation.evaluate_once("", path, results, **arguments)
            arguments.update(eval_interval_secs=0, max_number_of_evaluations=1)
            again = slim.evaluation.evaluation_loop("", directory, results, **arguments)
            names = [variable.op.name for variable in tf.global_variables()]
        found["summary" if has_summary else "none"] = repr(
            (float(once), float(again), names, tags(results))
        )
    return found


@question
def evaluations_in_a_loop():
    directory, results = tempfile.mkdtemp(), tempfile.mkdtemp()
    train(directory, 2)
    with tf.Graph().as_default(), Lines() as log:
        _, mean, update = evaluating()
        value = slim.evaluation.evaluation_loop(
            "",
            directory,
            results,
            num_evals=2,
            eval_op=update,
            final_op=mean,
            eval_interval_secs=0,
            max_number_of_evaluations=1,
        )
    return {"value": float(value), "tags": repr(tags(results)), "lines": repr(log.lines)}


@question
def loop_without_checkpoints():
    directory = tempfile.mkdtemp()
    with tf.Graph().as_default(), Lines() as log:
        _, mean, update = evaluating()
        value = tried(
            lambda: slim.evaluation.evaluation_loop(
                "", directory, directory, eval_op=update, final_op=mean, timeout=0.1
            )
        )
    return {"value": repr(value), "lines": repr(log.lines)}


if __name__ == "__main__":
    main()
