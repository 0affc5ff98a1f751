"""tbparse on a model_dir: the steps of the losses of training and evaluation."""

import json

from _common import input_fn, make_estimator
from tbparse import SummaryReader

estimator = make_estimator("model")
estimator.train(input_fn, steps=100)
estimator.evaluate(input_fn, steps=1)
scalars = SummaryReader("model", extra_columns={"dir_name"}).scalars
losses = scalars[scalars.tag == "loss"].groupby("dir_name").step
print(json.dumps({name: list(map(int, steps)) for name, steps in losses}))
