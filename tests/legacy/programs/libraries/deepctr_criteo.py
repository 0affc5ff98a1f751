"""Estimators of deepctr on generated Criteo records, after its README."""
import tempfile
import numpy as np
import tensorflow as tf
from deepctr.estimator import DeepFMEstimator, WDLEstimator, DCNEstimator, xDeepFMEstimator, AutoIntEstimator, NFMEstimator, AFMEstimator, CCPMEstimator, FNNEstimator, FiBiNETEstimator, DeepFEFMEstimator, FwFMEstimator, PNNEstimator
from deepctr.estimator.inputs import input_fn_tfrecord, input_fn_pandas
import pandas as pd
rng = np.random.RandomState(0)
sparse = ["C%d" % i for i in range(1, 5)]; dense = ["I%d" % i for i in range(1, 3)]
n = 256
frame = pd.DataFrame({**{c: rng.randint(0, 10, n) for c in sparse}, **{d: rng.rand(n) for d in dense}})
frame["label"] = (frame["C1"] % 2 == 0).astype(int)
def columns():
  d, l = [], []
  for f in sparse:
    d.append(tf.feature_column.embedding_column(tf.feature_column.categorical_column_with_identity(f, 10), 4))
    l.append(tf.feature_column.categorical_column_with_identity(f, 10))
  for f in dense:
    d.append(tf.feature_column.numeric_column(f)); l.append(tf.feature_column.numeric_column(f))
  return d, l
train = input_fn_pandas(frame, sparse + dense, "label", shuffle=True, batch_size=32)
test = input_fn_pandas(frame, sparse + dense, None, shuffle=False, batch_size=32)
def evaluate_fn(): return input_fn_pandas(frame, sparse + dense, "label", shuffle=False, batch_size=32)
for E in (DeepFMEstimator, WDLEstimator, DCNEstimator, xDeepFMEstimator, AutoIntEstimator, NFMEstimator, AFMEstimator, CCPMEstimator, FNNEstimator, FiBiNETEstimator, DeepFEFMEstimator, FwFMEstimator, PNNEstimator):
  d, l = columns()
  est = E(*([d] if E is PNNEstimator else [l, d]), task="binary", config=tf.estimator.RunConfig(tf_random_seed=2021, model_dir=tempfile.mkdtemp()))
  est.train(train, steps=8)
  r = est.evaluate(evaluate_fn())
  p = list(est.predict(test))
  print(E.__name__, r, len(p), flush=True)
  assert r["global_step"] == 8 and 0 < r["LogLoss"] < 2 and len(p) == n
