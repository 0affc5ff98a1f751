"""WandbHook of Weights & Biases, offline: the steps that it logs, and how many it sees."""

import json

import wandb

run = wandb.init(project="p", mode="offline")

import tensorflow as tf
from _common import input_fn, make_estimator
from wandb.integration.tensorflow import WandbHook

seen = []


class Watch(tf.estimator.SessionRunHook):
    def steps_until_due(self, global_step):
        seen.append(global_step)  # Asked before each loop.


hooks = [WandbHook(steps_per_log=20), Watch()]
make_estimator("model").train(input_fn, hooks, steps=100)
print(json.dumps({"summary": sorted(run.summary.keys()), "loops": len(seen)}))
wandb.finish()
