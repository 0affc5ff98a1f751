"""Examples of `estimator_train.compat`: a section for one or several names."""

import estimator_train.compat

# %% install
estimator_train.compat.install("tf1")  # Before the first `import tensorflow`.
import tensorflow as tf

print(tf.__version__, hasattr(tf, "contrib"), hasattr(tf, "estimator"))  # 1.15.5 True True
