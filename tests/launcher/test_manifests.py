"""Jobs for schedulers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tfjob import faults

from estimator_train.cli.main import main
from estimator_train.cluster import detect
from estimator_train.launcher.manifests import ClusterJob, make_slurm_script

PROGRAM = ["python", "train.py", "--name=a b"]


def manifest(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["manifest", *arguments, "--", *PROGRAM]) == 0
    return capsys.readouterr().out


def test_a_tfjob_has_the_operators_roles_and_containers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = manifest(
        capsys,
        "--platform=kubeflow",
        "--workers=2",
        "--ps=1",
        "--evaluator",
        "--image=here/train:1",
        "--gpus=1",
    )
    lines = text.splitlines()
    assert lines[:2] == ["apiVersion: kubeflow.org/v1", "kind: TFJob"]
    kinds = [line.strip(" :") for line in lines if line.startswith("    ") and line[4] != " "]
    assert kinds[-4:] == ["Chief", "Worker", "PS", "Evaluator"]
    assert [line.split()[-1] for line in lines if "replicas:" in line] == ["1", "2", "1", "1"]
    assert text.count("- name: tensorflow") == text.count("restartPolicy: ExitCode") == 4
    assert text.count('nvidia.com/gpu: "1"') == 3
    assert text.count('command: ["python", "train.py", "--name=a b"]') == 4


def test_a_tfjob_fits_its_schema(
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = ["--platform=kubeflow", "--workers=1", "--ps=1", "--evaluator", "--image=here:1"]
    text = manifest(capsys, *options, "--gpus=1")
    assert faults(text) == []
    assert faults(text.replace("replicas: 1", "replicas: many", 1).replace("name:", "called:")) == [
        ".metadata: called is unknown",
        ".spec.tfReplicaSpecs.Chief.replicas: 'many' is no int",
        *(
            f".spec.tfReplicaSpecs.{kind}.template.spec.containers[0]: {fault}"
            for kind in ("Chief", "Worker", "PS", "Evaluator")
            for fault in ("no name", "called is unknown")
        ),
    ]


def test_a_slurm_script_starts_all_tasks_with_their_roles(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = manifest(capsys, "--platform=slurm", "--workers=1", "--ps=1", "--evaluator")
    script = tmp_path / "job.sh"
    script.write_text(text)
    subprocess.run(["bash", "-n", str(script)], check=True)
    assert "#SBATCH --ntasks=4\n" in text
    assert text.endswith("srun --label --kill-on-bad-exit=1 python train.py '--name=a b'\n")
    exported = dict(
        line.removeprefix("export ").split("=") for line in text.splitlines() if "export" in line
    )
    slurms = {
        "SLURM_JOB_ID": "12345",
        "SLURM_NTASKS": "4",
        "SLURM_NODELIST": "a",
        "SLURM_TASKS_PER_NODE": "4",
    }
    roles = [detect({**slurms, **exported, "SLURM_PROCID": str(n)}).task_type for n in range(4)]
    assert roles == ["chief", "worker", "ps", "evaluator"]


def test_gpus_are_requested_only_if_given() -> None:
    assert "gpus" not in make_slurm_script(ClusterJob(["true"]))
    assert "#SBATCH --gpus-per-task=2\n" in make_slurm_script(ClusterJob(["true"], gpus=2))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--platform=kubeflow", "--", "true"], "--image=NAME"),
        (["--platform=slurm"], "a program is needed"),
        (["--", "true"], "--platform is needed: jobset or kubeflow or slurm or trainjob"),
        (["--platform=nomad", "--", "true"], "jobset|kubeflow|slurm|trainjob"),
    ],
)
def test_errors_name_the_missing_argument(
    arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["manifest", *arguments]) == 2
    assert text in capsys.readouterr().err
