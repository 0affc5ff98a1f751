"""Record figures of a model_fn of the user's own from the original into tests/golden/training.json.

Run by hand with a Python that has TensorFlow 2.15: `python tests/oracle/record_training.py`.
"""

from record import record
from training_jobs import JOBS

if __name__ == "__main__":
    record(JOBS, "training")
