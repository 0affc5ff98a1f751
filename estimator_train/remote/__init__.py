"""Object stores and other remote file systems for TensorFlow: `s3://`, `az://`, `hdfs://` and more.

TensorFlow 2.6 and later open `gs://` and local paths only. This package registers further schemes:
a library of C (`filesystem.c`) serves TensorFlow's file system interface, and calls fsspec.
Estimators and `input_fns` register the schemes of their paths; other programs call `register`.
"""

from estimator_train.remote.checks import (
    check_output_directory,
    check_path,
    is_permanent,
    is_replaced,
    is_transient,
    make_output_directory,
    output_exists,
    prepare_path,
    write_locally,
)
from estimator_train.remote.lease import hold_lease
from estimator_train.remote.registration import register, register_installed

__all__ = [
    "check_output_directory",
    "check_path",
    "hold_lease",
    "is_permanent",
    "is_replaced",
    "is_transient",
    "make_output_directory",
    "output_exists",
    "prepare_path",
    "register",
    "register_installed",
    "write_locally",
]
