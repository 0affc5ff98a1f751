"""What is published: its version, and a wheel that any Python of a platform can install."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import estimator_train

ROOT = Path(__file__).parent.parent


def test_the_citation_names_the_version():
    version = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert version.group(1) == estimator_train.__version__


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """A copy of what is built from."""
    directory = tmp_path_factory.mktemp("sources")
    for name in ("estimator_train", "input_fns", "flags"):
        shutil.copytree(ROOT / name, directory / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, directory)
    return directory


HERE = {"ESTIMATOR_TRAIN_URL": "https://example.com/here/", "ESTIMATOR_TRAIN_NO_LIBRARY": "1"}
URLS = {
    "Source": "https://example.com/here",
    "Documentation": f"https://example.com/here/blob/v{estimator_train.__version__}/docs/index.md",
    "Changelog": f"https://example.com/here/blob/v{estimator_train.__version__}/CHANGELOG.md",
    "Issues": "https://example.com/here/issues",
}
LIBRARY = "installed/_estimator_train_loopback.so"


@pytest.mark.long
def test_a_wheel_of_this_platform_has_the_loopback_library(sources, tmp_path):
    assert "-py3-none-linux_" in _installed_wheel(sources, tmp_path)
    assert (tmp_path / LIBRARY).exists()
    assert _urls(tmp_path) == {}
    said = _said(tmp_path, "estimator_train", "doctor")
    assert f"estimator-train   {estimator_train.__version__}" in said
    assert "loopback library  available" in said


@pytest.mark.long
def test_a_wheel_of_any_platform_passes_tests_outside_the_checkout(sources, tmp_path, monkeypatch):
    for name, value in HERE.items():
        monkeypatch.setenv(name, value)
    assert "-py3-none-any" in _installed_wheel(sources, tmp_path)
    assert not (tmp_path / LIBRARY).exists()
    assert _urls(tmp_path) == URLS
    shutil.copytree(ROOT / "tests", tmp_path / "tests")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    quick = ["tests/test_names.py", "tests/export/test_saved_model.py"]
    _said(tmp_path, "pytest", "-q", "-p", "no:cacheprovider", *quick)


def _installed_wheel(sources, tmp_path):
    """Builds a wheel, unpacks it into `installed` and returns its name."""
    shutil.copytree(sources, tmp_path / "sources")
    command = [sys.executable, "-m", "build", "--wheel", "-o", tmp_path, tmp_path / "sources"]
    subprocess.run(command, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(tmp_path / "installed")
    return wheel.name


def _urls(tmp_path):
    (metadata,) = (tmp_path / "installed").glob("*.dist-info/METADATA")
    return dict(re.findall(r"^Project-URL: (.+), (.+)$", metadata.read_text(), re.MULTILINE))


def _said(tmp_path, *module):
    """What a module prints that runs with the installed wheel."""
    done = subprocess.run(
        [sys.executable, "-m", *module],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "installed")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
