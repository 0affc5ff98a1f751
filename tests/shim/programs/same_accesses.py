"""The accesses of tools whose packages do not install beside current TensorFlow.

Argument: the tool. Each function makes the accesses that the tool was seen to make.
"""

import json
import sys

import tensorflow as tf
from _common import input_fn, make_estimator, receiver_fn

CALLS = []


def wrap(owner, name):
    original = getattr(owner, name)

    def wrapped(*arguments, **named):
        CALLS.append(name)
        return original(*arguments, **named)

    setattr(owner, name, wrapped)


def mlflow():
    """Does what mlflow.tensorflow.autolog() of MLflow 1.30 does, which needs protobuf < 5."""
    for module in (tf.estimator, tf.compat.v1.estimator):
        for name in ("train", "export_saved_model"):
            wrap(module.Estimator, name)
    wrap(tf.compat.v1.estimator.Estimator, "export_savedmodel")
    estimator = make_estimator("model").train(input_fn, steps=10)
    estimator.export_saved_model("export", receiver_fn)
    tf.compat.v1.estimator.Estimator(estimator.model_fn, "model").export_savedmodel(
        "v1", receiver_fn
    )


def horovod():
    """Trains with the hook of horovod.tensorflow 0.28, which is built from C++ sources."""

    class BroadcastGlobalVariablesHook(tf.estimator.SessionRunHook):
        def begin(self):
            self.operation = tf.group(*[v.read_value() for v in tf.compat.v1.global_variables()])

        def after_create_session(self, session, coord):
            CALLS.append("after_create_session")
            session.run(self.operation)

    make_estimator("model").train(input_fn, [BroadcastGlobalVariablesHook()], steps=50)


def tfma():
    """Does what export_eval_savedmodel of tensorflow_model_analysis 0.46 does (needs Beam)."""
    from tensorflow.python.estimator.export import export

    def receiver():
        x = tf.compat.v1.placeholder(tf.float32, [None, 4], "x")
        y = tf.compat.v1.placeholder(tf.float32, [None, 1], "y")
        return export.SupervisedInputReceiver({"x": x}, y, {"x": x, "y": y})

    estimator = make_estimator("model").train(input_fn, steps=10)
    path = estimator.experimental_export_all_saved_models("eval", {"eval": receiver})
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        CALLS.extend(tf.compat.v1.saved_model.load(session, ["eval"], path).signature_def)


def determined():
    """Subclasses the listener that EstimatorTrial of determined 0.24 replaces."""
    from tensorflow_estimator.python.estimator import training

    class Evaluator:
        def evaluate_and_export(self):
            CALLS.append("evaluate_and_export")
            return estimator.evaluate(input_fn, steps=1), []

    estimator = make_estimator("model", save_checkpoints_steps=5)
    listener = training._NewCheckpointListenerForEvaluate(
        Evaluator(), 0, training._ContinuousEvalListener()
    )
    estimator.train(input_fn, steps=10, saving_listeners=[listener])


def dlrover():
    """Replaces the methods that dlrover.trainer.tensorflow replaces."""
    from tensorflow.python.training.session_manager import SessionManager
    from tensorflow_estimator.python.estimator.estimator import Estimator

    wrap(Estimator, "_call_model_fn")
    wrap(SessionManager, "prepare_session")
    make_estimator("model").train(input_fn, steps=10)


def easyrec():
    """Does what EasyRec and HybridBackend do, which are not on PyPI: a train_and_evaluate."""
    from tensorflow.python.distribute import estimator_training
    from tensorflow_estimator.python.estimator import exporter, training

    class Executor(training._TrainingExecutor):
        def run(self):
            CALLS.append("run")
            return super().run()

    class Exporter(exporter._SavedModelExporter):
        pass

    estimator = make_estimator("model")
    spec = tf.estimator.EvalSpec(input_fn, steps=1, throttle_secs=0)
    training._assert_eval_spec(spec)
    if not estimator_training.should_run_distribute_coordinator(estimator.config):
        train_spec = tf.estimator.TrainSpec(input_fn, max_steps=10)
        listener = training._ContinuousEvalListener()
        Executor(estimator, train_spec, spec, continuous_eval_listener=listener).run()


globals()[sys.argv[1]]()
step = int(tf.train.load_variable("model", "global_step"))
print(json.dumps([sorted(set(CALLS)), step]))
