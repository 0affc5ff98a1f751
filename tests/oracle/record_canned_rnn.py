"""Record figures of recurrent estimators from the original into tests/golden/canned_rnn.json.

Run by hand with a Python that has TensorFlow 2.15: `python tests/oracle/record_canned_rnn.py`.
"""

from __future__ import annotations

import canned_rnn
import goldens
import tensorflow as tf
from canned_figures import observe
from jobs import original_apis

if __name__ == "__main__":
    # The original cannot train recurrent networks on loops of TensorFlow 2.
    tf.compat.v1.disable_control_flow_v2()
    api = next(original_apis())
    cases = canned_rnn.CASES
    goldens.write("canned_rnn", {name: observe(cases[name], api) for name in cases})
