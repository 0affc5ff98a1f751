"""The package works without `tf_contrib` and the folder `estimator_train/legacy`."""

import shutil
import sys
from pathlib import Path

import pytest
from processes import run_process

ROOT = Path(__file__).parent.parent
# Tests of the first tier that together take about a minute.
QUICK_TESTS = (
    "cluster",
    "run_config",
    "compat",
    "flags",
    "predictor",
    "training/test_train_and_evaluate.py",
    "cli/test_command_line.py",
    "test_names.py",
    "test_spec.py",
)
# Removes the finders of editable installs: they find `legacy` in the checkout.
SITE = """
import sys

sys.meta_path[:] = [
    finder for finder in sys.meta_path
    if not getattr(finder, "__module__", "").startswith("__editable__")
]
"""


@pytest.fixture
def copy(tmp_path):
    """Returns a copy of the packages without `tf_contrib` and the folder `legacy`."""
    for package in ("estimator_train", "input_fns", "flags"):
        shutil.copytree(
            ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("legacy", "*.pyc")
        )
    (tmp_path / "sitecustomize.py").write_text(SITE)
    return tmp_path


def run(copy, *arguments):
    return run_process(
        [sys.executable, *arguments], exit_code=None, cwd=copy, timeout=1500, PYTHONPATH=str(copy)
    )


INSTALL = "import estimator_train.compat; estimator_train.compat.install()"


@pytest.mark.parametrize(
    ("feature", "arguments", "exit_code"),
    [
        ("`estimator-train run`", ["-m", "estimator_train", "run", "train.py"], 2),
        ("`estimator-train check`", ["-m", "estimator_train", "check", "."], 2),
        ("estimator_train.compat.install()", ["-c", INSTALL], 1),
    ],
)
def test_the_three_entrances_name_the_missing_folder(copy, feature, arguments, exit_code):
    done = run(copy, *arguments)
    assert done.returncode == exit_code, done.stderr
    last = done.stderr.splitlines()[-1]
    assert f"{feature} needs the folder estimator_train/legacy" in last
    assert "Traceback" not in done.stderr or exit_code == 1


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_the_first_tier_passes_without_the_folders(copy):
    """Collects every test and runs the quick ones."""
    shutil.copytree(ROOT / "tests", copy / "tests", ignore=shutil.ignore_patterns("*.pyc"))
    for folder in ("contrib", "legacy"):
        shutil.rmtree(copy / "tests" / folder)
    for path in ROOT.iterdir():
        if path.name not in (".git", ".venv", "tf_contrib") and not (copy / path.name).exists():
            (copy / path.name).symlink_to(path)
    collected = run(copy, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider")
    assert collected.returncode == 0, collected.stdout[-3000:]
    quick = [str(Path("tests", name)) for name in QUICK_TESTS]
    tested = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", *quick)
    assert tested.returncode == 0, tested.stdout[-3000:]
