"""Records the public names of tf.estimator, v2 and v1. Run with the original's Python."""

import json
from pathlib import Path

import tensorflow as tf


def public_names(namespace) -> list[str]:
    return sorted(name for name in dir(namespace) if not name.startswith("_"))


if __name__ == "__main__":
    names = {
        "tf.estimator": public_names(tf.estimator),
        "tf.compat.v1.estimator": public_names(tf.compat.v1.estimator),
    }
    path = Path(__file__).parent.parent / "golden" / "public_names.json"
    path.write_text(json.dumps(names, indent=1) + "\n")
