"""Every job case, by importing the files that register them."""

import job_checkpoints  # noqa: F401
import job_exporters  # noqa: F401
import job_flows  # noqa: F401
import job_specs  # noqa: F401
import job_stopping  # noqa: F401
import job_warm_start  # noqa: F401
from job_cases import CASES

__all__ = ["CASES"]
