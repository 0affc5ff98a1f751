"""Directories without write permission and full disks: one line, and exit code 2."""

import sys
from pathlib import Path

import pytest
from processes import run_process

ROOT = Path(__file__).parents[2]
TRAIN = ["train", "--preset=digits"]
# Start of the program. File permissions apply to root only without CAP_DAC_OVERRIDE and
# CAP_DAC_READ_SEARCH, which prctl's PR_CAPBSET_DROP removes from the next program.
AS_ANYBODY = "import ctypes; prctl = ctypes.CDLL(None).prctl; prctl(24, 1); prctl(24, 2)"
WITH_SMALL_FILES = "import resource as r; r.setrlimit(r.RLIMIT_FSIZE, ({0}, {0}))"
NEXT = "; import os, sys; os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"


def error_of(first: str, *arguments: str) -> str:
    """Returns the single error line of a command that ends with code 2."""
    done = run_process(
        [sys.executable, "-c", first + NEXT, "-m", "estimator_train", *arguments],
        exit_code=2,
        cwd=ROOT,
        timeout=300,
        TF_CPP_MIN_LOG_LEVEL="3",
    )
    *others, line = done.stderr.splitlines()
    assert line.startswith("estimator-train: error: ")
    assert not [other for other in others if not other.startswith("continuing from ")]
    return line


def files_under(directory: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.mark.long
def test_a_directory_without_write_permission_prints_one_line(command, tmp_path):
    model_dir = tmp_path / "m"
    assert command(*TRAIN, f"--model_dir={model_dir}", "--max_train_steps=2").code == 0
    before = files_under(model_dir)
    model_dir.chmod(0o500)
    try:
        line = error_of(AS_ANYBODY, *TRAIN, f"--model_dir={model_dir}", "--max_train_steps=4")
        assert f"{model_dir}/" in line
        assert "Permission denied" in line
        line = error_of(AS_ANYBODY, *TRAIN, f"--model_dir={model_dir}/new", "--max_train_steps=4")
        assert f"{model_dir}/new; Permission denied" in line
    finally:
        model_dir.chmod(0o700)
    assert files_under(model_dir) == before


@pytest.mark.long
def test_a_full_disk_during_an_export_leaves_no_incomplete_files(command, tmp_path):
    model_dir, exports = tmp_path / "m", tmp_path / "exports"
    arguments = ["export", "--preset=digits", f"--model_dir={model_dir}", f"--export_dir={exports}"]
    assert command(*TRAIN, f"--model_dir={model_dir}", "--max_train_steps=2").code == 0
    assert command(*arguments).code == 0
    before = files_under(tmp_path)
    line = error_of(WITH_SMALL_FILES.format(100_000), *arguments)
    assert f"{exports}/temp-" in line
    assert "File too large" in line
    assert files_under(tmp_path) == before
    assert len(list(exports.iterdir())) == 1
