"""RunConfig: the settings of a job, their valid values, and the task of this process."""

from estimator_train.run_config.run_config import RunConfig

__all__ = ["RunConfig"]
