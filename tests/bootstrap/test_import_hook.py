"""The import hook: what every module of a process imports of tf.estimator."""

import json
import sys
from pathlib import Path

import forked
import pytest
import tiers
from processes import run_process

from estimator_train.bootstrap import import_hook

# Imports and names that tools use, in a process that has called nothing of this package's.
WITHOUT_INSTALL = """
import importlib.util, json, sys
import estimator_train
from importlib.metadata import version
loads_nothing = 'estimator_train.legacy' not in sys.modules
import tensorflow_estimator
import tensorflow_estimator.python.estimator.canned.dnn as dnn
from tensorflow_estimator.python.estimator.canned import dnn as again
from tensorflow_estimator.python.estimator.early_stopping import read_eval_metrics
from tensorflow_estimator.python.estimator.estimator import Estimator, EstimatorV2
import tensorflow_estimator._api.v1.estimator as v1
import tensorflow_estimator._api.v2.estimator as v2
import tensorflow as tf
try:
    from tensorflow_estimator.python.estimator import no_such_name
except ImportError:
    missing = importlib.util.find_spec('tensorflow_estimator.python.estimator.no_such_name')
import tf_keras
model = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(2,))])
model.compile('sgd', 'mse')
converted = tf_keras.estimator.model_to_estimator(model)
print(json.dumps([
    loads_nothing,
    sys.modules[dnn.__name__] is dnn is again is tensorflow_estimator.python.estimator.canned.dnn,
    dnn.__spec__.name == dnn.__name__ and dnn.__spec__.loader is dnn.__loader__,
    v1.Estimator is Estimator and v2.Estimator is EstimatorV2 is estimator_train.Estimator,
    dnn.DNNClassifierV2 is estimator_train.DNNClassifier,
    version('tensorflow-estimator') == version('tensorflow_estimator') == '2.15.0',
    not hasattr(tf, 'estimator') and not hasattr(tf.compat.v1, 'estimator'),
    missing is None,
    type(converted).__module__ == 'estimator_train.estimator.estimator',
]))
"""
WITH_INSTALL = """
import json, sys
{imports}
import estimator_train as est
from estimator_train.bootstrap import import_hook
import_hook.install().show_attributes()
import tensorflow as tf
import tensorflow.compat.v1 as tf1
import tensorflow.compat.v1.estimator as module
import estimator_train.compat.v1 as v1
from tensorflow.estimator import DNNClassifier, Estimator
from tensorflow.python.estimator.export.export import SupervisedInputReceiver
from tensorflow.python.distribute.estimator_training import should_run_distribute_coordinator
from tensorflow_estimator.python.estimator import estimator as private
tf.estimator.added = 1
class Replaced: pass
original, tf.estimator.Estimator = Estimator, Replaced
seen = est.Estimator
tf.estimator.Estimator = original
v1.Estimator.train = 'replaced'
print(json.dumps([
    Estimator is est.Estimator is tf.estimator.Estimator is tf.compat.v2.estimator.Estimator,
    v1.Estimator is tf.compat.v1.estimator.Estimator is tf1.estimator.Estimator,
    module is tf.compat.v1.estimator is tf1.estimator is tf.compat.v1.compat.v1.estimator,
    tf.keras.estimator.model_to_estimator.__module__.startswith('tf_keras'),
    {{'Estimator', 'export'}} < {{*dir(tf.estimator)}} and 'estimator' in dir(tf),
    seen is Replaced,
    private.Estimator.train == tf.estimator.Estimator.train == 'replaced',
    not hasattr(tf.estimator, 'no_such_name'),
]))
"""


@pytest.mark.long
def test_importing_the_package_adds_modules_and_does_not_change_tensorflow():
    found = json.loads(_python(WITHOUT_INSTALL).splitlines()[-1])
    assert found == [True] * len(found)


@pytest.mark.parametrize("imports", tiers.every(2, ["import tensorflow, tensorflow.compat.v1", ""]))
def test_the_attributes_of_tensorflow_are_one_object_under_all_names(imports):
    program = WITH_INSTALL.format(imports=imports)
    if imports:
        # The server of forks has imported TensorFlow.
        found = forked.printed("-c", program, TF_USE_LEGACY_KERAS="1")
    else:
        found = json.loads(_python(program, TF_USE_LEGACY_KERAS="1").splitlines()[-1])
    assert found == [True] * len(found)


def _python(program, **variables):
    done = run_process(
        [sys.executable, "-W", "ignore", "-c", program],
        timeout=300,
        TF_CPP_MIN_LOG_LEVEL="3",
        **variables,
    )
    return done.stdout


@pytest.mark.long
def test_an_installed_tensorflow_estimator_comes_after_this_one(tmp_path):
    package = tmp_path / "tensorflow_estimator"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('broken')")
    about = tmp_path / "tensorflow_estimator-2.14.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: tensorflow-estimator\nVersion: 2.14.0\n")
    program = (
        "import estimator_train, tensorflow_estimator\nfrom importlib.metadata import version\n"
        "from estimator_train.cli.commands import doctor\n"
        "print(tensorflow_estimator.__spec__.origin, version('tensorflow-estimator'))\n"
        "print(doctor._find_original().text)\n"
    )
    lines = _python(program, PYTHONPATH=str(tmp_path)).splitlines()
    assert lines[0] == "estimator_train 2.15.0"
    assert lines[1].startswith(f"2.14.0 in {tmp_path} is not used: ")


def test_a_tensorflow_with_its_own_estimator_keeps_it(monkeypatch):
    releases = {"tensorflow": "2.15.1"}
    monkeypatch.setattr("importlib.metadata.version", lambda name: releases[name])
    hook = import_hook.ImportHook()
    hook.show_attributes()
    assert hook.find_spec("tensorflow_estimator") is None
    assert hook.find_spec("tensorflow_estimator.python") is None
    assert list(hook.find_distributions()) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tf.estimator.Estimator", "1"),
        ("from tensorflow import estimator", "1"),
        ("from tensorflow.compat.v1 import estimator", "1"),
        ("import tensorflow_estimator", "1"),
        ("from sklearn.base import BaseEstimator\nmy.estimator.fit()", None),
        ("model = keras.Sequential()", None),
    ],
)
def test_the_program_that_imports_tensorflow_chooses_keras(text, expected, tmp_path, monkeypatch):
    script = tmp_path / "script.py"
    script.write_text(text)
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(script), raising=False)
    monkeypatch.setattr(import_hook, "_find_importer", lambda: None)
    monkeypatch.delenv("TF_USE_LEGACY_KERAS", raising=False)
    import_hook._choose_keras()
    assert import_hook.os.environ.get("TF_USE_LEGACY_KERAS") == expected
    monkeypatch.setenv("TF_USE_LEGACY_KERAS", "0")
    import_hook._choose_keras()
    assert import_hook.os.environ["TF_USE_LEGACY_KERAS"] == "0"


def test_the_file_of_an_import_statement_is_found(tmp_path):
    import importlib.util

    path = tmp_path / "importer.py"
    path.write_text(
        "from estimator_train.bootstrap import import_hook\nFOUND = import_hook._find_importer()\n"
    )
    spec = importlib.util.spec_from_file_location("importer", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert Path(module.FOUND) == path
