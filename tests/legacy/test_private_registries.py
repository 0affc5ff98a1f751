"""Removed registries of TensorFlow's framework modules answer as in TensorFlow 1.15."""

import pytest
import tensorflow as tf

from estimator_train.legacy.private import registries


def test_programs_find_operations_and_shape_functions(run):
    program = """
import tensorflow as tf
from tensorflow.python.framework import common_shapes, op_def_library, op_def_registry, ops

@ops.RegisterShape("MyOp")
def shape(op):
    return common_shapes.scalar_shape(op)

definitions = op_def_registry.get_registered_ops()
library = op_def_library.OpDefLibrary()
library.add_op(definitions["Add"])
total = library.apply_op("Add", x=tf.constant(1.0), y=tf.constant(2.0), name="sum")
print(total.name, tf.Session().run(total), list(ops._shape_registry.list()))
print([argument.name for argument in definitions["MatMul"].input_arg])
print(common_shapes.unchanged_shape(total.op), common_shapes.unknown_shape(total.op))
"""
    assert run(program, switches=["--tf1"]).stdout.splitlines() == [
        "sum:0 3.0 ['MyOp']",
        "['a', 'b']",
        "[TensorShape([])] [TensorShape(None)]",
    ]


def test_a_type_of_operation_that_was_not_added_is_an_error():
    with pytest.raises(RuntimeError, match="Unrecognized Op name Mul"):
        registries.OpDefLibrary().apply_op("Mul", x=tf.constant(1.0), y=tf.constant(2.0))


def test_a_type_has_one_shape_function():
    registry = registries.ShapeRegistry()
    registry.register(None, "MyOp")
    with pytest.raises(KeyError, match="two shape functions with name 'MyOp'"):
        registry.register(None, "MyOp")
    assert registry.lookup("MyOp") is None
    with pytest.raises(LookupError, match="no entry for: Other"):
        registry.lookup("Other")


def test_a_tensor_like_type_needs_a_name_and_a_dtype():
    class Named:
        name = property(lambda self: "a")

    with pytest.raises(TypeError, match="Named does not define a `dtype` property"):
        registries.register_dense_tensor_like_type(Named)
