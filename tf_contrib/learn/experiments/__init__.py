"""`Experiment` and `learn_runner` of `tf.contrib.learn`, which `train_and_evaluate` replaced."""
