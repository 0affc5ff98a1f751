"""The published package: its version, and a wheel for any Python of a platform."""

import ast
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from processes import run_process

import estimator_train

ROOT = Path(__file__).parent.parent


def test_the_citation_names_the_version():
    version = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert version.group(1) == estimator_train.__version__


def test_every_dependency_has_a_lower_bound():
    text = (ROOT / "pyproject.toml").read_text()
    _, optional, rest = text.partition("[project.optional-dependencies]\n")
    lists = re.findall(r"^dependencies = (\[.*?^\])$", text, re.MULTILINE | re.DOTALL)
    lists += re.findall(r"^\w+ = (\[.*?\])$", rest.partition("\n\n")[0], re.MULTILINE | re.DOTALL)
    requirements = [one for found in lists for one in ast.literal_eval(found)]
    assert optional
    assert len(requirements) > 20
    extras = [one for one in requirements if one.startswith("estimator-train[")]
    assert [one for one in requirements if ">=" not in one and one not in extras] == []


def test_actions_are_pinned_by_commit():
    workflows = sorted((ROOT / ".github/workflows").glob("*.yml"))
    used = [line for path in workflows for line in re.findall(r"uses: (.+)", path.read_text())]
    assert len(workflows) == 3
    assert [
        line for line in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", line)
    ] == []


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """Returns a copy of the sources."""
    directory = tmp_path_factory.mktemp("sources")
    for name in ("estimator_train", "tf_contrib", "input_fns", "flags"):
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
    assert (tmp_path / "installed/_estimator_train_remote.so").exists()
    assert _urls(tmp_path) == {}
    assert _relative_links(tmp_path) == []
    typed = {path.parent.name for path in (tmp_path / "installed").glob("*/py.typed")}
    assert typed == {"estimator_train", "tf_contrib", "input_fns", "flags"}
    assert (tmp_path / "installed/tf_contrib/README.md").exists()
    said = _said(tmp_path, "estimator_train", "doctor")
    assert re.search(rf"estimator-train +{estimator_train.__version__}\n", said)
    assert re.search(r"loopback library +available", said)


@pytest.mark.long
def test_a_wheel_of_any_platform_passes_tests_outside_the_checkout(sources, tmp_path, monkeypatch):
    for name, value in HERE.items():
        monkeypatch.setenv(name, value)
    assert "-py3-none-any" in _installed_wheel(sources, tmp_path)
    assert not (tmp_path / LIBRARY).exists()
    assert (tmp_path / "installed/estimator_train/remote/filesystem.c").exists()
    assert _urls(tmp_path) == URLS
    assert _relative_links(tmp_path) == []
    readme = f"https://example.com/here/raw/v{estimator_train.__version__}/docs/pictures/speed.png"
    assert readme in _metadata(tmp_path)
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
    return dict(re.findall(r"^Project-URL: (.+), (.+)$", _metadata(tmp_path), re.MULTILINE))


def _relative_links(tmp_path):
    """Returns the links of the description that an index of packages cannot follow."""
    return re.findall(r"\]\((?!https?://|#)[^)]*\)", _metadata(tmp_path))


def _metadata(tmp_path):
    (path,) = (tmp_path / "installed").glob("*.dist-info/METADATA")
    return path.read_text()


def _said(tmp_path, *module):
    """Returns the output of a module that runs with the installed wheel."""
    done = run_process(
        [sys.executable, "-m", *module], cwd=tmp_path, PYTHONPATH=str(tmp_path / "installed")
    )
    return done.stdout
