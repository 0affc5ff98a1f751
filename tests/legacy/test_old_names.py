"""Names that have moved: all paths to tf.estimator, and names of old private modules."""

import dataclasses
import json
import pickle
import pkgutil
import sys

import numpy as np
import pytest

import estimator_train
import estimator_train.compat.v1 as v1
from estimator_train.legacy import old_names

P = "tensorflow.python"
K = f"{P}.keras"


def find(dotted, generation=old_names.TF2):
    module, _, name = dotted.rpartition(".")
    return getattr(old_names.tree(generation).module(module), name)


@pytest.mark.parametrize("generation", [old_names.TF1, old_names.TF2])
@pytest.mark.parametrize(
    ("way", "expected"),
    [
        ("compat.v2", estimator_train),
        ("compat.v1.compat.v2", estimator_train),
        ("compat.v2.compat.v2", estimator_train),
        ("compat.v1", v1),
        ("compat.v2.compat.v1", v1),
        ("compat.v1.compat.v1", v1),
        ("compat.v2.compat.v1.compat.v1", v1),
    ],
)
def test_every_path_to_tensorflow_has_its_estimator(way, expected, generation):
    for root in ("tensorflow", "tensorflow_core"):
        assert find(f"{root}.{way}.estimator.Estimator", generation) is expected.Estimator
        assert find(f"{root}.{way}.estimator.tpu.TPUEstimator", generation)


@pytest.mark.parametrize("generation", [old_names.TF1, old_names.TF2])
def test_a_dotted_name_is_not_an_attribute(generation):
    seen = old_names.tree(generation).module("tensorflow")
    assert not hasattr(seen, "compat.v2")
    assert seen.compat.v2


def test_the_dict_of_a_module_has_all_of_its_names():
    """Cloud templates read the level of a flag from `tf.logging.__dict__`."""
    seen = old_names.tree(old_names.TF1).module("tensorflow")
    levels = vars(seen.logging)
    assert (levels["INFO"], levels.get("WARN"), levels.get("NOTHING", 7)) == (20, 30, 7)
    assert {"DEBUG", "set_verbosity"} < set(levels)
    assert "ERROR" in levels
    assert "NOTHING" not in levels
    with pytest.raises(KeyError, match="NOTHING"):
        levels["NOTHING"]
    assert vars(seen.contrib.layers)["l2_regularizer"] is seen.contrib.layers.l2_regularizer
    levels["MINE"] = 5
    assert seen.logging.MINE == 5
    del seen.logging.__dict__["MINE"]
    assert not hasattr(seen.logging, "MINE")


@pytest.mark.long
def test_libraries_see_private_modules_of_keras(run):
    program = (
        "import tensorflow.compat.v2 as tf\n"
        "print(tf.keras.__internal__.losses.compute_weighted_loss.__module__)\n"
    )
    done = run(program, switches=["--tf2"], python=[sys.executable])
    assert done.stdout == "tf_keras.src.utils.losses_utils\n"


MOVED = {
    f"{P}.ops.variable_scope.variable": "tensorflow:compat.v1.Variable",
    f"{P}.ops.variables.VariableV1": "tensorflow:compat.v1.Variable",
    f"{P}.ops.rnn_cell_impl.LSTMStateTuple": "tensorflow:compat.v1.nn.rnn_cell.LSTMStateTuple",
    f"{P}.ops.rnn_cell_impl.LayerRNNCell": "tf_keras.src.layers.rnn.legacy_cells:LayerRNNCell",
    f"{P}.ops.rnn_cell_impl._concat": "tf_keras.src.layers.rnn.legacy_cells:_concat",
    f"{P}.layers.convolutional.Convolution2D": "tensorflow:compat.v1.layers.Conv2D",
    f"{P}.layers.core.fully_connected": "tensorflow:compat.v1.layers.dense",
    f"{P}.layers.utils.conv_output_length": f"{P}.layers.utils:conv_output_length",
    f"{P}.training.training_ops.resource_apply_adam": (
        f"{P}.ops.gen_training_ops:resource_apply_adam"
    ),
    f"{P}.training.tracking.graph_view.ObjectGraphView": (
        f"{P}.checkpoint.graph_view:ObjectGraphView"
    ),
    f"{P}.training.tracking.tracking.AutoTrackable": f"{P}.trackable.autotrackable:AutoTrackable",
    f"{P}.training.checkpointable.util.CheckpointV1": "tensorflow:compat.v1.train.Checkpoint",
    f"{P}.training.distribution_strategy_context.get_strategy": (
        "tensorflow:distribute.get_strategy"
    ),
    f"{P}.saved_model.utils_impl.get_variables_path": (
        f"{P}.saved_model.path_helpers:get_variables_path"
    ),
    f"{P}.saved_model.loader_impl._parse_saved_model": (
        f"{P}.saved_model.loader_impl:parse_saved_model"
    ),
    f"{P}.framework.ops.convert_to_tensor_v2": (
        f"{P}.framework.tensor_conversion:convert_to_tensor_v2"
    ),
    f"{P}.util.nest.is_sequence": "tensorflow:nest.is_nested",
    f"{P}.util.tf_export.estimator_export": f"{P}.util.tf_export:tf_export",
    f"{K}.engine.network.Network": "tf_keras:Model",
    f"{K}.layers.recurrent.LSTM": "tf_keras:layers.LSTM",
    f"{K}.layers.embeddings.Embedding": "tf_keras:layers.Embedding",
    f"{K}.optimizer_v2.adam.Adam": "tf_keras:optimizers.legacy.Adam",
    f"{K}.optimizer_v2.gradient_descent.SGD": "tf_keras:optimizers.legacy.SGD",
    f"{K}.optimizer_v2.learning_rate_schedule.ExponentialDecay": (
        "tf_keras:optimizers.schedules.ExponentialDecay"
    ),
    f"{K}.saving.hdf5_format.save_model_to_hdf5": (
        "tf_keras.src.saving.legacy.hdf5_format:save_model_to_hdf5"
    ),
    f"{K}.utils.conv_utils.normalize_tuple": "tf_keras.src.utils.conv_utils:normalize_tuple",
}


# Runs in a process whose tf.keras is tf-keras.
COMPARED = """
import importlib, json, pkgutil, sys
for old, now in json.loads(sys.argv[1]).items():
    module, _, name = old.rpartition('.')
    for root in ('tensorflow.', 'tensorflow_core.'):
        seen = getattr(importlib.import_module(module.replace('tensorflow.', root, 1)), name)
        if seen is not pkgutil.resolve_name(now):
            print(old, 'is', seen)
"""


@pytest.mark.parametrize("generation", ["--tf1", "--tf2"])
def test_private_names_resolve_to_their_new_definitions(run, generation):
    assert run(COMPARED, json.dumps(MOVED), switches=[generation]).stdout == ""


MIXED_PRECISION = """
import tensorflow as tf
experimental = tf.keras.mixed_precision.experimental
experimental.set_policy(experimental.Policy("mixed_bfloat16"))
assert tf.keras.layers.Dense(1).compute_dtype == "bfloat16"
experimental.set_policy("float32")
assert experimental.Policy("mixed_float16").loss_scale == "dynamic"
assert experimental.Policy("float32").loss_scale is None
scaled = experimental.LossScaleOptimizer(tf.keras.optimizers.SGD(0.5), 8)
assert (float(scaled.loss_scale), scaled.dynamic) == (8, False)
assert experimental.LossScaleOptimizer(tf.keras.optimizers.SGD(), "dynamic").dynamic
"""


@pytest.mark.parametrize("module", ["tf", "tf.compat.v2"])
def test_experimental_mixed_precision_of_keras(run, module):
    run(MIXED_PRECISION.replace("tf.keras.mixed", f"{module}.keras.mixed"))


GONE = [
    f"{P}.framework.tensor_like.TensorLike",
    f"{P}.eager.execution_callbacks.add_execution_callback",
    f"{P}.ops.rnn_cell_impl._no_such_name",
]


def test_removed_private_names_raise_an_error_with_their_name(run):
    lines = []
    for gone in GONE:
        module, _, name = gone.rpartition(".")
        lines.append(
            f"try:\n  from {module} import {name}\nexcept ImportError as error: print(error)"
        )
    told = run("\n".join([*lines, ""])).stdout.splitlines()
    assert [line.split()[0] for line in told] == GONE
    assert all("does not exist" in line for line in told)


def test_names_set_in_a_view_are_set_in_the_tensorflow_module(monkeypatch):
    seen = old_names.tree(old_names.TF2).module(f"{P}.ops.summary_op_util")
    own = pkgutil.resolve_name(f"{P}.ops.summary_op_util")
    kept = own.summary_scope
    monkeypatch.setattr(own, "summary_scope", kept)
    seen.summary_scope = len
    assert own.summary_scope is len
    seen.summary_scope = kept
    assert own.summary_scope is kept


def test_dataclasses_accept_unhashable_defaults():
    seen = old_names.python_tree().module("dataclasses")

    @seen.dataclass
    class Inner:
        size: int = 3

    @seen.dataclass(order=True)
    class Outer:
        inner: Inner = Inner()
        other: Inner = dataclasses.field(default=Inner(4))

    assert (Outer().inner, Outer().other.size) == (Inner(3), 4)
    assert Inner.__hash__ is None
    with pytest.raises(ValueError, match="mutable default <class 'list'>"):

        @seen.dataclass
        class Wrong:
            items: list = []  # noqa: RUF012


@pytest.mark.parametrize(
    ("name", "known"),
    [("slim", "conv2d"), ("crf", "crf_log_likelihood"), ("framework", "arg_scope")],
)
def test_a_star_import_binds_no_modules_that_a_replacement_imports(name, known):
    module = old_names.tree(old_names.TF1).module(f"tensorflow.contrib.{name}")
    assert known in module.__all__
    assert not {"tf", "np", "functools", "Any", "Callable"} & set(module.__all__)


def test_numpy_sums_generators_as_before():
    old = old_names.tree(old_names.TF1).module("numpy")
    assert old.sum(n for n in [1, 2, 3]) == 6
    np.testing.assert_array_equal(old.sum((np.ones(2) for _ in range(2)), axis=0), [2.0, 2.0])
    total = np.zeros(())
    assert old.sum((n for n in [1.5, 2.5]), out=total) is total
    assert total == 4.0
    array = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(old.sum(array, 1, np.int64, keepdims=True), [[3], [12]])
    assert pickle.loads(pickle.dumps(old.sum))(n for n in [1, 2]) == 3


def test_numpy_accepts_the_old_name_of_the_quantile_method():
    old = old_names.tree(old_names.TF1).module("numpy")
    values = [1.0, 2.0, 4.0]
    assert old.quantile(values, 0.25, interpolation="lower") == 1.0
    assert old.percentile(values, 75, interpolation="higher") == 4.0
    assert old.quantile(values, 0.25, method="higher") == 2.0
    assert old.quantile(values, 0.25) == 1.5
