"""Record figures of Keras models from the original into tests/golden/keras.json.

Run by hand with a Python that has TensorFlow 2.15: `python tests/oracle/record_keras.py`.
"""

from keras_jobs import JOBS
from record import record

if __name__ == "__main__":
    record(JOBS, "keras")
