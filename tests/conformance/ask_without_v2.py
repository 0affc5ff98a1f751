"""What ours comes to in each case after `disable_v2_behavior()`: `ask_without_v2.py OUT`."""

import json
import sys
from pathlib import Path

import all_cases
import tensorflow as tf
from flavours import ours

if __name__ == "__main__":
    tf.compat.v1.disable_v2_behavior()
    api = ours()["v1"]
    found = {name: all_cases.observe(case, api) for name, case in all_cases.CASES.items()}
    Path(sys.argv[1]).write_text(json.dumps(found), encoding="utf-8")
