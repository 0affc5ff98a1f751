"""RunConfig: where and how a job runs, and what its settings may be."""

from estimator_train.run_config.run_config import RunConfig

__all__ = ["RunConfig"]
