"""What ours comes to in cases after `disable_v2_behavior()`: `ask_without_v2.py OUT CASE...`."""

import json
import sys
from pathlib import Path

import all_cases
import tensorflow as tf
from flavours import ours

if __name__ == "__main__":
    tf.compat.v1.disable_v2_behavior()
    api = ours()["v1"]
    found = {name: all_cases.observe(all_cases.CASES[name], api) for name in sys.argv[2:]}
    Path(sys.argv[1]).write_text(json.dumps(found), encoding="utf-8")
