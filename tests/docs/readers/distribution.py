from pathlib import Path

import tensorflow as tf

import estimator_train as est

Path("data").mkdir(exist_ok=True)
Path("train.py").write_text("""
import os

import numpy as np
import tensorflow as tf

import estimator_train as est


def input_fn():
    x = np.random.default_rng(0).normal(size=(256, 1)).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, x[:, 0] > 0)).repeat().batch(32)


has_servers = '"ps"' in os.environ["TF_CONFIG"]
strategy = None if has_servers else tf.distribute.MultiWorkerMirroredStrategy()
config = est.RunConfig(f"run{has_servers}", save_checkpoints_steps=50, train_distribute=strategy)
columns = [tf.feature_column.numeric_column("x")]
estimator = est.LinearClassifier(columns, config=config)
est.train_and_evaluate(
    estimator, est.TrainSpec(input_fn, 100), est.EvalSpec(input_fn, steps=2, start_delay_secs=0)
)
""")
