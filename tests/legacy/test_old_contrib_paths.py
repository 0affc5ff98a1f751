"""Import paths of tf_contrib that programs rewritten by 0.1 have."""

import forked
from processes import run_process

PROGRAM = """
import pickle
import warnings

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", FutureWarning)
    from estimator_train.legacy.contrib import layers as contrib_layers
    from estimator_train.legacy.contrib import slim
    import estimator_train.legacy.contrib.learn.datasets as datasets
    from estimator_train.legacy.contrib.layers.columns import create_feature_spec_for_parsing
    import estimator_train.legacy.contrib as old
    opt = old.opt
    moved = [one for one in caught if "tf_contrib" in str(one.message)]
print(len(moved), moved[0].filename == __file__, moved[0].message)

import tf_contrib
import tf_contrib.learn

print(contrib_layers is tf_contrib.layers, slim is tf_contrib.slim, opt is tf_contrib.opt)
print(datasets is tf_contrib.learn.datasets, datasets.__spec__.name)
print(pickle.loads(b"cestimator_train.legacy.contrib.training\\nHParams\\n.").__module__)
for statement in (
    "import estimator_train.legacy.contrib.nope",
    "from estimator_train.legacy.contrib import nope",
):
    try:
        exec(statement)
    except ImportError as error:
        print(type(error).__name__)
"""


def test_old_paths_are_the_modules_of_tf_contrib_and_warn_once(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = run_process(forked.python(tmp_path / "program.py"))
    assert done.stdout.splitlines() == [
        "1 True estimator_train.legacy.contrib is now tf_contrib. Import tf_contrib instead: the "
        "next version removes the old path.",
        "True True True",
        "True tf_contrib.learn.datasets",
        "tf_contrib.training.hparams",
        "ModuleNotFoundError",
        "ImportError",
    ]


def test_the_core_does_not_import_them():
    program = "import sys, estimator_train.compat.v1; print('tf_contrib' in sys.modules)"
    assert run_process(forked.python("-c", program)).stdout == "False\n"
