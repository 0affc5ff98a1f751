"""Sources of rows in memory or from Python: arrays, frames, generators, TensorFlow Datasets."""
