"""Reads 16 interleaved files of TFRecords; prints the records and the growth of peak memory in MB.

Call it with the directory of the files.
"""

import resource
import sys

import tensorflow as tf

from estimator_train import remote


def get_peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def read(directory):
    files = tf.data.Dataset.list_files(f"{directory}/*.tfrecord", shuffle=False)
    records = files.interleave(tf.data.TFRecordDataset, cycle_length=16, num_parallel_calls=4)
    return sum(1 for _ in records)


remote.register("s3")
with tf.io.gfile.GFile(f"{sys.argv[1]}/first", "rb") as file:  # The driver is imported.
    file.read()
before = get_peak_mb()
print(read(sys.argv[1]), round(get_peak_mb() - before))
