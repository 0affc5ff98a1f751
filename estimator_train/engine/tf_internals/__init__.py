"""All uses of TensorFlow's internals by the package, one module for each subject.

Each entry states why the public API does not suffice. `tests/private_uses.py` lists the private
attributes that are used elsewhere, and why.
"""
