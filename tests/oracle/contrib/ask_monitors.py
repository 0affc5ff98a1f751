"""Questions about tf.contrib.learn.monitors."""

import logging
import tempfile

import numpy as np
import tensorflow as tf
from asking import main, question, signature
from trying import tried

learn = tf.contrib.learn
monitors = learn.monitors


class Noting(monitors.EveryN):
    """Records its arguments."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.said = []

    def begin(self, max_steps=None):
        super().begin(max_steps)
        self.said.append(f"begin {max_steps}")

    def every_n_step_begin(self, step):
        super().every_n_step_begin(step)
        self.said.append(f"begin of {step}")
        return ["value:0"]

    def every_n_step_end(self, step, outputs):
        super().every_n_step_end(step, outputs)
        self.said.append(f"end of {step}: {sorted(outputs.items())}")
        return step >= 8

    def every_n_post_step(self, step, session):
        self.said.append(f"after {step}")

    def end(self, session=None):
        super().end(session)
        self.said.append("end")


def counted(some, steps):
    """Runs a counter with monitors, or until they stop it; returns the last step."""
    step = tf.train.get_or_create_global_step()
    value = tf.multiply(tf.cast(step, tf.float32), 0.5, name="value")
    with tf.control_dependencies([value]):
        count = tf.assign_add(step, 1)
    hooks = [monitors.RunHookAdapterForMonitors(some)]
    seen = 0
    with tf.train.SingularMonitoredSession(hooks) as session:
        while not session.should_stop() and seen < steps:
            seen = int(session.run(count))
    return seen


@question
def signatures():
    names = "BaseMonitor CaptureVariable EveryN LoggingTrainable NanLoss PrintTensor "
    names += "RunHookAdapterForMonitors StopAtStep ValidationMonitor "
    names += "replace_monitors_with_hooks"
    return {name: signature(getattr(monitors, name)) for name in names.split()}


@question
def every_third():
    noting = Noting(3)
    return {"last": counted([noting], 12), "said": noting.said}


@question
def the_first_ones_and_every_fourth():
    noting = Noting(every_n_steps=4, first_n_steps=2)
    return {"last": counted([noting], 6), "said": noting.said}


@question
def a_monitor_is_called_for_each_step():
    said = []

    class Each(monitors.BaseMonitor):
        def step_begin(self, step):
            super().step_begin(step)
            said.append(f"begin of {step}")
            return []

        def step_end(self, step, output):
            super().step_end(step, output)
            said.append(f"end of {step}")
            return False

        def post_step(self, step, session):
            said.append(f"after {step}")

    return {"last": counted([Each()], 3), "said": said}


@question
def stop_after_steps():
    return {"last": counted([monitors.StopAtStep(num_steps=4)], 9)}


@question
def stop_at_a_step():
    return {"last": counted([monitors.StopAtStep(last_step=5)], 9)}


@question
def stop_at_what():
    return {"both": tried(monitors.StopAtStep, 3, 4), "none": tried(monitors.StopAtStep)}


@question
def captured():
    capture = monitors.CaptureVariable("value:0", every_n=2, first_n=1)
    counted([capture], 6)
    steps = sorted(capture.values)
    return {"steps": steps, "seen": repr([float(capture.values[step]) for step in steps])}


@question
def printed():
    said = []

    class Keeping(logging.Handler):
        def emit(self, record):
            said.append(record.getMessage())

    handler = Keeping()
    logger = logging.getLogger("tensorflow")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        counted([monitors.PrintTensor(["value:0"], every_n=2)], 4)
        counted_names = [text for text in said if "value" in text]
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    return {"said": counted_names}


def input_of(x, y):
    def features():
        data = tf.data.Dataset.from_tensors(({"x": tf.constant(x)}, tf.constant(y)))
        return data.repeat().make_one_shot_iterator().get_next()

    return features


def trained_with(monitor, steps=12):
    """Trains a weight from 0 towards 1, where the validation wants -1; returns the last step."""

    def model_fn(features, labels, mode):
        weight = tf.get_variable("weight", [], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean(tf.square(features["x"] * weight - labels))
        step = tf.train.get_global_step()
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    config = tf.estimator.RunConfig(tempfile.mkdtemp(), save_checkpoints_steps=2)
    estimator = tf.estimator.Estimator(model_fn, config=config)
    hooks = monitors.replace_monitors_with_hooks([monitor], estimator)
    estimator.train(input_of([[1.0]], [[1.0]]), hooks, max_steps=steps)
    return int(estimator.get_variable_value("global_step"))


@question
def validation():
    wanted = input_of([[1.0]], [[0.5]])
    monitor = monitors.ValidationMonitor(
        input_fn=wanted, eval_steps=1, every_n_steps=2, check_interval_secs=None
    )
    last = trained_with(monitor)
    found = [monitor.best_step, monitor.best_value, monitor.early_stopped]
    return {"last": last, "found": repr(found)}


@question
def validation_that_stops():
    wanted = input_of([[1.0]], [[0.5]])
    monitor = monitors.ValidationMonitor(
        input_fn=wanted,
        eval_steps=1,
        every_n_steps=2,
        early_stopping_rounds=3,
        check_interval_secs=None,
    )
    last = trained_with(monitor, 30)
    found = [monitor.best_step, round(float(monitor.best_value), 5), monitor.early_stopped]
    return {"last": last, "found": repr(found), "metrics": repr(sorted(monitor.best_metrics))}


@question
def validation_of_a_largest_value():
    monitor = monitors.ValidationMonitor(
        input_fn=input_of([[1.0]], [[0.5]]),
        eval_steps=1,
        every_n_steps=2,
        early_stopping_rounds=100,
        early_stopping_metric_minimize=False,
        check_interval_secs=None,
    )
    trained_with(monitor)
    return {"best": repr([monitor.best_step, round(float(monitor.best_value), 5)])}


@question
def validation_between_checkpoints():
    """The best step is that of the validation, not of the checkpoint that it reads."""
    monitor = monitors.ValidationMonitor(
        input_fn=input_of([[1.0]], [[-1.0]]),
        eval_steps=1,
        every_n_steps=3,
        early_stopping_rounds=100,
        check_interval_secs=None,
    )
    last = trained_with(monitor)
    return {"found": repr([last, int(monitor.best_step), monitor.early_stopped])}


@question
def validation_by_a_metric_that_is_not_there():
    monitor = monitors.ValidationMonitor(
        input_fn=input_of([[1.0]], [[0.5]]),
        eval_steps=1,
        every_n_steps=2,
        early_stopping_rounds=3,
        early_stopping_metric="none",
        check_interval_secs=None,
    )
    return {"last": trained_with(monitor)}


@question
def validation_of_arrays():
    """Validates on arrays with a user's metric, as programs of 2017 do."""
    learn = tf.contrib.learn
    x, y = np.arange(8, dtype=np.float32).reshape(8, 1) / 4, np.arange(8, dtype=np.float32)
    absolute = learn.MetricSpec(tf.contrib.metrics.streaming_mean_absolute_error)
    monitor = monitors.ValidationMonitor(
        x,
        y + 1,
        every_n_steps=5,
        metrics={"absolute": absolute},
        early_stopping_rounds=10,
        early_stopping_metric="absolute",
        early_stopping_metric_minimize=False,
        check_interval_secs=None,
    )
    config = learn.RunConfig(
        save_checkpoints_steps=5,
        save_checkpoints_secs=None,
        model_dir=tempfile.mkdtemp(),
    )
    columns = [tf.contrib.layers.real_valued_column("", dimension=1)]
    regressor = learn.LinearRegressor(columns, config=config)
    regressor.fit(x, y, steps=40, monitors=[monitor])
    last = int(regressor.get_variable_value("global_step"))
    value = round(float(monitor.best_value), 3)
    found = [last, monitor.best_step, value, monitor.early_stopped]
    return {"found": repr(found), "metrics": sorted(monitor.best_metrics)}


@question
def monitors_of_an_experiment():
    estimator = tf.contrib.learn.LinearRegressor(
        [tf.contrib.layers.real_valued_column("x")], model_dir=tempfile.mkdtemp()
    )
    experiment = tf.contrib.learn.Experiment(
        estimator,
        input_of([[1.0]], [[1.0]]),
        input_of([[1.0]], [[1.0]]),
        train_steps=7,
        train_monitors=[monitors.StopAtStep(3), monitors.CaptureVariable("global_step")],
    )
    experiment.train()
    return {"last": int(estimator.get_variable_value("global_step"))}


@question
def validation_of_nothing():
    return {"made": tried(monitors.ValidationMonitor)}


@question
def a_loss_that_is_no_number():
    step = tf.train.get_or_create_global_step()
    loss = tf.divide(0.0, tf.cast(2 - tf.identity(step), tf.float32), name="loss")
    with tf.control_dependencies([loss]):
        count = tf.assign_add(step, 1)
    said = []
    for fails in (True, False):
        monitor = monitors.NanLoss(loss, every_n_steps=1, fail_on_nan_loss=fails)
        hooks = [monitors.RunHookAdapterForMonitors([monitor])]
        try:
            with tf.train.SingularMonitoredSession(hooks) as session:
                while not session.should_stop() and len(said) < 9:
                    said.append(int(session.run([count, loss])[0]))
        except monitors.NanLossDuringTrainingError as error:
            said.append(str(error))
    return {"said": repr(said)}


@question
def replaced():
    hook = tf.train.StopAtStepHook(last_step=2)
    estimator = tf.estimator.Estimator(lambda features, labels, mode: None)
    both = monitors.replace_monitors_with_hooks([monitors.EveryN(), hook], estimator)
    none = monitors.replace_monitors_with_hooks(None, estimator)
    return {"kinds": [type(one).__name__ for one in both], "none": len(none)}


if __name__ == "__main__":
    main()
