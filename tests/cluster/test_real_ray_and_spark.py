"""The examples of a real Ray Train and a real Spark, whose chief is stopped once."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import tempfile
from pathlib import Path

import pytest
from processes import run_process
from tiers import of_commit

pytestmark = pytest.mark.long
ROOT = Path(__file__).parents[2]
PATHS = (ROOT, ROOT / "examples", Path(__file__).parent)
# A standalone cluster: a process of its own for each of two executors with two cores and 1 GiB.
SPARK = (
    "--master local-cluster[2,2,1024] --conf spark.ui.enabled=false "
    "--conf spark.driver.bindAddress=127.0.0.1"
)


def make_spark_home(folder: Path) -> Path:
    """Returns a new folder with links to the files of Spark: executors write to it."""
    (package,) = importlib.util.find_spec("pyspark").submodule_search_locations
    folder.mkdir()
    for file in Path(package).iterdir():
        (folder / file.name).symlink_to(file)
    return folder


def run_job(program: str, folder: Path) -> dict[str, str]:
    """Returns the lines that a program of this folder prints, by their first word."""
    # Sockets of Ray have short paths.
    with tempfile.TemporaryDirectory(prefix="ray") as directory:
        spark = make_spark_home(Path(directory, "spark"))
        done = run_process(
            [sys.executable, Path(__file__).with_name(program), folder, directory],
            timeout=550,
            PYTHONPATH=os.pathsep.join(map(str, PATHS)),
            HOME=directory,  # Ray keeps a token there.
            RAY_USAGE_STATS_ENABLED="0",
            PYSPARK_PYTHON=sys.executable,
            PYSPARK_SUBMIT_ARGS=f"{SPARK} pyspark-shell",
            SPARK_HOME=str(spark),
            SPARK_LOCAL_IP="127.0.0.1",
        )
    return dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)


# Each takes a minute.
@pytest.mark.parametrize("program", of_commit(2, ["ray_job.py", "spark_job.py"]))
def test_a_job_continues_after_its_chief_was_stopped(program: str, tmp_path: Path) -> None:
    lines = run_job(program, tmp_path)
    first, second = map(int, (tmp_path / "starts.txt").read_text().split())
    assert first == 0
    # After SIGTERM in Spark it continues from the checkpoint that the signal saved.
    assert second % 50 if program == "spark_job.py" else second in range(50, 300, 50)
    assert json.loads(lines["metrics"])["global_step"] == 300
    if program == "ray_job.py":
        files = lines["checkpoint"].split()
        assert {name.split(".")[1] for name in files} == {"ckpt-300"}
