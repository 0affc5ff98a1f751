import estimator_train as est
