"""Every behaviour case, by importing the files that register them."""

import cases_construct  # noqa: F401
import cases_evaluate  # noqa: F401
import cases_events  # noqa: F401
import cases_export  # noqa: F401
import cases_input  # noqa: F401
import cases_keras  # noqa: F401
import cases_keras_exports  # noqa: F401
import cases_keras_inputs  # noqa: F401
import cases_odd_values  # noqa: F401
import cases_predict  # noqa: F401
import cases_savers  # noqa: F401
import cases_tpu  # noqa: F401
import cases_train  # noqa: F401
from cases import CASES, observe

__all__ = ["CASES", "observe"]
