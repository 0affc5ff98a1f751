"""Trains with the session hook of SageMaker Debugger, and reads the tensors that it saved."""

import json

import smdebug.tensorflow as smd
from _common import input_fn, make_estimator
from smdebug.trials import create_trial

hook = smd.SessionHook("debug", save_config=smd.SaveConfig(save_interval=10))
make_estimator("model").train(input_fn, [hook], steps=50)
trial = create_trial("debug")
losses = [name for name in trial.tensor_names() if "weighted_loss" in name]
values = [trial.tensor(losses[0]).value(step).item() for step in trial.steps()]
print(json.dumps([trial.steps(), values]))
