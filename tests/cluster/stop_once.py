"""A hook that stops the chief of an example's job, once."""

import json
import os
from pathlib import Path

import tensorflow as tf

import estimator_train as est


def read_saved_step(model_dir):
    """Returns the step from which a training would continue; 0 without a checkpoint."""
    path = tf.train.latest_checkpoint(str(model_dir))
    return int(path.rpartition("-")[2]) if path else 0


class StopOnce(tf.compat.v1.train.SessionRunHook):
    """Sends a signal to this process in its first run, after a checkpoint and between two.

    Each start adds its global step to FOLDER/starts.txt; checkpoints are in FOLDER/model.
    """

    def __init__(self, folder, number):
        self.starts = Path(folder, "starts.txt")
        self.model_dir = Path(folder, "model")
        self.number = number

    def after_create_session(self, session, coord):
        with self.starts.open("a") as file:
            file.write(f"{session.run(tf.compat.v1.train.get_global_step())}\n")

    def before_run(self, run_context):
        return tf.compat.v1.train.SessionRunArgs(tf.compat.v1.train.get_global_step())

    def after_run(self, run_context, run_values):
        is_first = len(self.starts.read_text().split()) == 1
        is_between = run_values.results % 50 == 25
        # By the file `checkpoint`: a thread writes it after the files of the checkpoint.
        if is_first and is_between and read_saved_step(self.model_dir) > 0:
            os.kill(os.getpid(), self.number)


def stop_chief_once(folder, number):
    """Gives the next TrainSpec of this process the hook, if the process is the chief."""

    def make_spec(input_fn, max_steps):
        role = json.loads(os.environ["TF_CONFIG"])["task"]["type"]
        hooks = [StopOnce(folder, number)] if role == "chief" else []
        return train_spec(input_fn, max_steps, hooks=hooks)

    train_spec, est.TrainSpec = est.TrainSpec, make_spec
