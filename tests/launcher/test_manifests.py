"""Jobs for schedulers."""

from __future__ import annotations

import os
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


@pytest.mark.parametrize("platform", ["jobset", "trainjob"])
@pytest.mark.parametrize("options", [[], ["--workers=2", "--ps=1", "--evaluator", "--gpus=1"]])
def test_manifests_of_kubernetes_fit_their_schemas(
    platform: str, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = manifest(capsys, f"--platform={platform}", "--image=here:1", *options)
    assert faults(text) == []
    wrong = text.replace("maxRestarts: 10", "maxRestarts: ten").replace("operator: In", "in: 1")
    assert any(fault.endswith(".maxRestarts: 'ten' is no int") for fault in faults(wrong))
    assert len(faults(wrong)) > 2


def test_a_tfjob_fits_its_schema(
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = ["--platform=kubeflow", "--workers=1", "--ps=1", "--evaluator", "--image=here:1"]
    text = manifest(capsys, *options, "--gpus=1")
    assert faults(text) == []
    wrong = text.replace("replicas: 1", "replicas: many", 1)
    wrong = wrong.replace("  name: train", "  called: train").replace("- name:", "- called:")
    assert faults(wrong) == [
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
    assert "\nsrun --label --kill-on-bad-exit=1 python train.py '--name=a b'\n" in text
    exported = dict(
        line.removeprefix("export ").split("=") for line in text.splitlines() if "export" in line
    )
    assert exported.pop("ESTIMATOR_TRAIN_PREEMPTION") == "1"
    slurms = {
        "SLURM_JOB_ID": "12345",
        "SLURM_STEP_NUM_TASKS": "4",
        "SLURM_STEP_NODELIST": "a",
        "SLURM_STEP_TASKS_PER_NODE": "4",
    }
    roles = [detect({**slurms, **exported, "SLURM_PROCID": str(n)}).task_type for n in range(4)]
    assert roles == ["chief", "worker", "ps", "evaluator"]


@pytest.mark.parametrize(
    ("code", "variables", "requeued"),
    [
        (0, {}, None),
        (1, {}, None),
        (143, {}, "7"),
        (137, {"SLURM_RESTART_COUNT": "9"}, "7"),
        (142, {"SLURM_ARRAY_JOB_ID": "5", "SLURM_ARRAY_TASK_ID": "2"}, "5_2"),
        (143, {"SLURM_RESTART_COUNT": "10"}, None),
    ],
)
def test_a_slurm_script_requeues_its_job_after_codes_that_may_be_repeated(
    code: int, variables: dict[str, str], requeued: str | None, tmp_path: Path
) -> None:
    for name, text in {"srun": f"exit {code}", "scontrol": f"echo $* > {tmp_path}/asked"}.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{text}\n")
        (tmp_path / name).chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    script = make_slurm_script(ClusterJob(["true"]))
    environment = {**os.environ, "PATH": path, "SLURM_JOB_ID": "7", **variables}
    done = subprocess.run(["bash", "-c", script], env=environment, check=False)
    assert done.returncode == code
    asked = tmp_path / "asked"
    assert (asked.read_text() if asked.exists() else None) == (
        f"requeue {requeued}\n" if requeued else None
    )


@pytest.mark.parametrize("platform", ["jobset", "trainjob", "kubeflow"])
@pytest.mark.parametrize("name", ["My_Job", "2024-run", "my.job", "train-", "é"])
def test_names_that_kubernetes_refuses_are_errors(
    platform: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [f"--platform={platform}", f"--name={name}", "--image=here:1"]
    assert main(["manifest", *options, "--", "true"]) == 2
    said = capsys.readouterr().err
    assert f"Kubernetes refuses the name {name!r}" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("platform", "end"),
    [("jobset", "targetReplicatedJobs: [chief"), ("kubeflow", "cleanPodPolicy: ")],
)
def test_an_evaluator_may_end_after_the_chief(
    platform: str, end: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [f"--platform={platform}", "--image=here:1"]
    alone, evaluated = manifest(capsys, *options), manifest(capsys, *options, "--evaluator")
    found = [text.partition(end)[2].partition("\n")[0] for text in (alone, evaluated)]
    assert found == {"jobset": ["]", ", evaluator]"], "kubeflow": ["Running", "None"]}[platform]


def test_gpus_are_requested_only_if_given() -> None:
    assert "gpus" not in make_slurm_script(ClusterJob(["true"]))
    assert "#SBATCH --gpus-per-task=2\n" in make_slurm_script(ClusterJob(["true"], gpus=2))


@pytest.mark.parametrize(
    "limit", ["5", "5:06", "24:00:00", "1-2", "1-2:03", "1-2:03:04", "0", "-1", "UNLIMITED"]
)
def test_a_slurm_script_takes_each_form_of_a_time_limit(limit: str) -> None:
    script = make_slurm_script(ClusterJob(["true"], time=limit))
    assert f"\n#SBATCH --time={limit}\n" in script


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--platform=kubeflow", "--", "true"], "--image=NAME"),
        (["--platform=slurm"], "a program is needed"),
        (["--platform=slurm", "--time=", "--", "true"], "--time='' is no time limit of Slurm"),
        (["--platform=slurm", "--time=1d", "--", "true"], "--time='1d' is no time limit"),
        (["--platform=slurm", "--name=a\nb", "--", "true"], "--name='a\\nb': a job of Slurm needs"),
        (["--platform=slurm", "--grace_secs=65536", "--", "true"], "at most 65535 seconds before"),
        (["--", "true"], "--platform is needed: jobset or kubeflow or slurm or trainjob"),
        (["--platform=nomad", "--", "true"], "jobset|kubeflow|slurm|trainjob"),
    ],
)
def test_errors_name_the_argument(
    arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["manifest", *arguments]) == 2
    assert text in capsys.readouterr().err
