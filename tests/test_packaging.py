"""What is published: its version, and a wheel that any Python of a platform can install."""

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
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, directory)
    return directory


HERE = {"ESTIMATOR_TRAIN_URL": "https://example.com/here/", "ESTIMATOR_TRAIN_NO_LIBRARY": "1"}
URLS = {
    "Source": "https://example.com/here",
    "Documentation": f"https://example.com/here/blob/v{estimator_train.__version__}/docs/index.md",
    "Changelog": f"https://example.com/here/blob/v{estimator_train.__version__}/CHANGELOG.md",
    "Issues": "https://example.com/here/issues",
}


@pytest.mark.long  # Each builds and imports.
@pytest.mark.parametrize(
    ("variables", "platform", "urls"), [({}, "linux_", {}), (HERE, "any", URLS)]
)
def test_a_wheel_runs_from_outside_the_checkout(
    sources, tmp_path, monkeypatch, variables, platform, urls
):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    shutil.copytree(sources, tmp_path / "sources")
    command = [sys.executable, "-m", "build", "--wheel", "-o", tmp_path, tmp_path / "sources"]
    subprocess.run(command, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert f"-py3-none-{platform}" in wheel.name
    with zipfile.ZipFile(wheel) as file:
        file.extractall(tmp_path / "installed")
    assert (tmp_path / "installed/_estimator_train_loopback.so").exists() == (platform != "any")
    (metadata,) = (tmp_path / "installed").glob("*.dist-info/METADATA")
    said_urls = re.findall(r"^Project-URL: (.+), (.+)$", metadata.read_text(), re.MULTILINE)
    assert dict(said_urls) == urls
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "installed"))
    command = [sys.executable, "-m", "estimator_train", "doctor"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout + said.stderr
    assert f"estimator-train   {estimator_train.__version__}" in said.stdout
    if platform != "any":
        assert "loopback library  there" in said.stdout
        return
    shutil.copytree(ROOT / "tests", tmp_path / "tests")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    quick = ["tests/test_names.py", "tests/export/test_saved_model.py"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *quick]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout
