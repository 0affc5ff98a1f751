"""A search of three iterations after adanet's README and its customizing tutorial."""
import tempfile, os
import numpy as np
import adanet
import tensorflow as tf

class Builder(adanet.subnetwork.Builder):
  def __init__(self, layers): self._layers = layers
  def build_subnetwork(self, features, logits_dimension, training, iteration_step, summary, previous_ensemble=None):
    x = tf.cast(features["x"], tf.float32)
    for _ in range(self._layers):
      x = tf.compat.v1.layers.dense(x, 8, activation=tf.nn.relu)
    logits = tf.compat.v1.layers.dense(x, logits_dimension)
    with tf.name_scope(""):
      summary.scalar("num_layers", self._layers)
    return adanet.Subnetwork(last_layer=x, logits=logits, complexity=tf.sqrt(float(self._layers)), shared={"n": self._layers})
  def build_subnetwork_train_op(self, subnetwork, loss, var_list, labels, iteration_step, summary, previous_ensemble):
    return tf.compat.v1.train.GradientDescentOptimizer(0.01).minimize(loss, var_list=var_list)
  def build_mixture_weights_train_op(self, loss, var_list, logits, labels, iteration_step, summary):
    return tf.no_op()
  @property
  def name(self): return "%d_layer" % self._layers if self._layers else "linear"

class Generator(adanet.subnetwork.Generator):
  def generate_candidates(self, previous_ensemble, iteration_number, previous_ensemble_reports, all_reports, config=None):
    n = 0
    if previous_ensemble: n = previous_ensemble.weighted_subnetworks[-1].subnetwork.shared["n"]
    return [Builder(n), Builder(n + 1)]

rng = np.random.RandomState(0)
X = rng.randn(200, 4).astype(np.float32); Y = (X[:, :1] * 2 - X[:, 1:2] ** 2).astype(np.float32)
def input_fn(training=True):
  d = tf.data.Dataset.from_tensor_slices(({"x": X}, Y))
  if training: d = d.shuffle(200, seed=0).repeat()
  return d.batch(20)
d = tempfile.mkdtemp()
head = tf.estimator.RegressionHead()
est = adanet.Estimator(head=head, subnetwork_generator=Generator(), max_iteration_steps=20,
  evaluator=adanet.Evaluator(input_fn=lambda: input_fn(False), steps=5), report_materializer=adanet.ReportMaterializer(input_fn=lambda: input_fn(False), steps=1), adanet_lambda=.01,
  config=tf.estimator.RunConfig(model_dir=d, tf_random_seed=1))
est.train(input_fn, max_steps=60)
r = est.evaluate(lambda: input_fn(False), steps=10)
print("EVAL", int(r["global_step"]), int(r["iteration"]), round(float(r["average_loss"]), 4))
assert (r["global_step"], r["iteration"]) == (60, 2)
p = list(est.predict(lambda: input_fn(False)))
print("PREDICT", len(p), p[0])
def serving():
  x = tf.compat.v1.placeholder(tf.float32, [None, 4])
  return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})
e = est.export_saved_model(d + "/export", serving)
assert len(p) == 200
assert (os.path.exists(os.path.join(e.decode(), "saved_model.pb")))
