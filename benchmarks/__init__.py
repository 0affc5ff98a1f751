"""Compares the speed of estimator_train with other APIs: `python -m benchmarks --help`."""
