"""The commands of `estimator-train`, one file each."""
