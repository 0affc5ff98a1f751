"""The commands of `estimator-train`; a file has those that are used together.

`train.py` has `evaluate` and `report`, too; `export.py` has `to-keras` and `convert-trees`;
`launch.py` has `manifest` and `task`; `old_programs.py` has `run`, `check` and `install-shim`.
"""
