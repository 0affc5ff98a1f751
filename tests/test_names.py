"""The public names, and that loading them is cheap until one is used."""

import ast
import sys
from pathlib import Path

import public_api
import pytest
import tensorflow as tf
from outcomes import recorded
from processes import run_process

import estimator_train as est
import estimator_train.compat.v1 as v1


def test_every_name_resolves_and_is_listed():
    assert set(est.__all__) <= set(dir(est))
    for name in est.__all__:
        assert getattr(est, name) is not None


def test_type_checkers_see_the_names_that_are_loaded_when_first_used():
    """Checks all names except TensorFlow's, for which there are no types."""
    tree = ast.parse(Path(est.__file__).read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    imported = {alias.asname for node in ast.walk(block) for alias in getattr(node, "names", ())}
    hooks = set(est._NAMES_OF["tensorflow:compat.v1.train."].split())
    assert imported - {None} | {"Estimator"} == set(est.__all__) - hooks


RECORDED = recorded("public_names")
NAMESPACES = {"tf.estimator": est, "tf.compat.v1.estimator": v1}
# The signature of `object`, which Python reports for a class without a constructor.
NO_ARGUMENTS = ["*args", "**kwargs"]
DIFFERENT = {
    # There are no TPUs to configure: it takes whatever it is given.
    "tf.compat.v1.estimator.tpu.experimental.EmbeddingConfigSpec": ["*args", "**kwargs"],
    # The original also raises an error without a model_fn.
    "tf.compat.v1.estimator.tpu.TPUEstimator": ["model_fn"],
}
# Methods of tuples: our class for this unusable spec is not a tuple.
MISSING = {
    f"tf.compat.v1.estimator.tpu.experimental.EmbeddingConfigSpec.{name}"
    for name in ("count", "index")
}


def test_every_name_accepts_the_recorded_signature():
    wrong = {}
    for name, theirs in RECORDED.items():
        prefix = next(prefix for prefix in NAMESPACES if name.startswith(f"{prefix}."))
        try:
            ours = public_api.described(NAMESPACES[prefix], name.removeprefix(f"{prefix}."))
        except AttributeError:
            ours = "missing"
        if name.rpartition(".")[2] in ("add_note", "with_traceback"):
            continue  # Python's own, of every exception; they differ between its versions.
        if name in MISSING:
            assert ours == "missing", name
        elif name in DIFFERENT:
            assert ours[: len(DIFFERENT[name])] == DIFFERENT[name] != theirs, name
        elif not called_alike(ours, theirs):
            wrong[name] = (ours, theirs)
    assert not wrong


def called_alike(ours, theirs):
    """Returns whether every call that the original takes is one that ours takes, for the same."""
    if not isinstance(theirs, list):
        return ours == theirs
    if theirs == NO_ARGUMENTS or not isinstance(ours, list):
        return isinstance(ours, list) or ours == "callable"
    if ours[-2:] == ["*args", "**kwargs"]:
        return ours[:-2] == theirs[: len(ours) - 2]
    more = ours[len(theirs) :]
    return ours[: len(theirs)] == theirs and all("=" in one or one[0] == "*" for one in more)


def test_hooks_are_tensorflows_classes():
    assert est.SessionRunHook is tf.compat.v1.train.SessionRunHook
    assert v1.CheckpointSaverHook is tf.compat.v1.train.CheckpointSaverHook


def test_v2_estimators_are_instances_of_v1_estimators_but_not_vice_versa():
    assert issubclass(est.Estimator, v1.Estimator)
    assert not issubclass(v1.Estimator, est.Estimator)


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="has no attribute 'Estimater'"):
        est.Estimater  # noqa: B018


def test_importing_the_package_does_not_import_tensorflow():
    program = "import sys, estimator_train; print('tensorflow' in sys.modules)"
    done = run_process([sys.executable, "-c", program])
    assert done.stdout == "False\n", done.stderr
