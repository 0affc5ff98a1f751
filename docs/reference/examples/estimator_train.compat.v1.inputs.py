"""Examples of `estimator_train.compat.v1.inputs`: a section for one or several names."""

import estimator_train.compat.v1 as tf_estimator
import numpy as np
import tensorflow as tf

x = tf.feature_column.numeric_column("x")
estimator = tf_estimator.LinearRegressor([x])

# %% numpy_input_fn
values = np.arange(8, dtype=np.float32)
input_fn = tf_estimator.inputs.numpy_input_fn(
    {"x": values}, 2 * values, batch_size=4, num_epochs=None, shuffle=True
)
estimator.train(input_fn, steps=10)

# %% pandas_input_fn
import pandas as pd

frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]})
target = pd.Series([2.0, 4.0, 6.0, 8.0])
input_fn = tf_estimator.inputs.pandas_input_fn(
    frame, target, batch_size=2, num_epochs=None, shuffle=True
)
estimator.train(input_fn, steps=10)
