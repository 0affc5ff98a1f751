"""The commands of `estimator-train`; a file has those that are used together."""
