"""tf.estimator for a process or an environment: the modules that all importers see."""
