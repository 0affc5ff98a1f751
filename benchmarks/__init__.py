"""Speed of estimator_train beside its peers: `python -m benchmarks --help`."""
