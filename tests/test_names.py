"""The public names, and that loading them is cheap until one is used."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
import tensorflow as tf

import estimator_train as est
import estimator_train.compat.v1 as v1

_GOLDEN = Path(__file__).parent / "golden"


def test_every_name_resolves_and_is_listed():
    assert set(est.__all__) <= set(dir(est))
    for name in est.__all__:
        assert getattr(est, name) is not None


def test_type_checkers_see_the_names_that_are_loaded_when_first_used():
    """All but TensorFlow's own, of which it has no types."""
    tree = ast.parse(Path(est.__file__).read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    imported = {alias.asname for node in ast.walk(block) for alias in getattr(node, "names", ())}
    hooks = set(est._NAMES_OF["tensorflow:compat.v1.train."].split())
    assert imported - {None} | {"Estimator"} == set(est.__all__) - hooks


def test_names_of_the_original_are_there():
    original = json.loads((_GOLDEN / "public_names.json").read_text())
    for namespace, key in ((est, "tf.estimator"), (v1, "tf.compat.v1.estimator")):
        missing = {name for name in original[key] if not hasattr(namespace, name)}
        assert missing <= {"tpu"}


def test_hooks_are_tensorflows_own_classes():
    assert est.SessionRunHook is tf.compat.v1.train.SessionRunHook
    assert v1.CheckpointSaverHook is tf.compat.v1.train.CheckpointSaverHook


def test_v2_estimators_are_v1_estimators_but_not_the_other_way_round():
    assert issubclass(est.Estimator, v1.Estimator)
    assert not issubclass(v1.Estimator, est.Estimator)


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="has no attribute 'Estimater'"):
        est.Estimater  # noqa: B018


def test_importing_the_package_does_not_import_tensorflow():
    program = "import sys, estimator_train; print('tensorflow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr


def test_importing_the_package_alone_makes_tf_keras_convert_models():
    program = (
        "import estimator_train, tf_keras\n"
        "model = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(2,))])\n"
        "model.compile('sgd', 'mse')\n"
        "estimator = tf_keras.estimator.model_to_estimator(model)\n"
        "print(type(estimator).__module__)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.endswith("estimator_train.estimator.estimator\n"), done.stderr[-2000:]
