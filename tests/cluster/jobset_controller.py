"""A JobSet whose pods are processes of this machine: the rules of its controllers.

They are those of JobSet 0.12 and of indexed Jobs in Kubernetes 1.31, without their delays: a Job
replaces a failed pod after 10 s, 20 s and so on.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]


def read_spec(manifest: str) -> dict[str, Any]:
    """Returns the spec of a JobSet, or of the one that Trainer makes from a TrainJob."""
    documents = {one["kind"]: one["spec"] for one in yaml.safe_load_all(manifest)}
    if "JobSet" in documents:
        return documents["JobSet"]
    spec, trainer = (
        documents["TrainingRuntime"]["template"]["spec"],
        documents["TrainJob"]["trainer"],
    )
    (job,) = spec["replicatedJobs"]
    nodes = trainer["numNodes"]
    job["template"]["spec"] |= {"parallelism": nodes, "completions": nodes}
    find_container(job["template"]["spec"])["command"] = trainer["command"]
    return spec


def find_container(job: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the container of the pods of a Job."""
    (container,) = job["template"]["spec"]["containers"]
    return container


@dataclasses.dataclass
class Pod:
    """A pod.

    Attributes:
      job: Name of its replicated job.
      index: Its completion index.
      process: Its container.
      is_disrupted: Whether Kubernetes evicts it: it has the condition DisruptionTarget.
    """

    job: str
    index: int
    process: subprocess.Popen[bytes]
    is_disrupted: bool = False


class JobSet:
    """A running JobSet; `step` handles the pods that have ended.

    Args:
      spec: The spec of the JobSet.
      folder: Directory of the containers, with their logs.
      variables: Variables of all containers.

    Attributes:
      pods: The pods that run.
      replaced: For each replicated job, how many pods were replaced.
      state: "Running", "Completed" or "Failed".
    """

    def __init__(self, spec: dict[str, Any], folder: Path, variables: Mapping[str, str]) -> None:
        self._spec = spec
        self._jobs = {job["name"]: job["template"]["spec"] for job in spec["replicatedJobs"]}
        self._folder = folder
        self._variables = variables
        self._restarts = 0
        self.pods: list[Pod] = []
        self.replaced: Counter[str] = Counter()
        self.state = "Running"
        self._create_jobs()

    def find_pod(self, job: str, index: int = 0) -> Pod:
        """Returns the pod that runs."""
        (pod,) = [pod for pod in self.pods if (pod.job, pod.index) == (job, index)]
        return pod

    def evict(self, pod: Pod) -> None:
        """Disrupts a pod, as for a node that is drained: SIGTERM comes first."""
        pod.is_disrupted = True
        pod.process.terminate()

    def step(self) -> None:
        """Handles the pods that have ended, by the policies of the spec."""
        for pod in [pod for pod in self.pods if pod.process.poll() is not None]:
            if pod not in self.pods:  # The set was restarted.
                continue
            self.pods.remove(pod)
            code = pod.process.returncode
            self._handle_end(pod, 128 - code if code < 0 else code)
            if self.state != "Running":
                return

    def delete_pods(self) -> None:
        """Ends all pods: SIGTERM, and SIGKILL after the grace time."""
        for pod in self.pods:
            pod.process.terminate()
        for pod in self.pods:
            grace = self._jobs[pod.job]["template"]["spec"]["terminationGracePeriodSeconds"]
            with contextlib.suppress(subprocess.TimeoutExpired):
                pod.process.wait(grace)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pod.process.pid, signal.SIGKILL)
            pod.process.wait()
        self.pods = []

    def _create_jobs(self) -> None:
        self._succeeded: dict[str, set[int]] = defaultdict(set)
        self._failures: Counter[str] = Counter()
        for name, job in self._jobs.items():
            for index in range(job["completions"]):
                self._start_pod(name, index)

    def _start_pod(self, name: str, index: int) -> None:
        program, *arguments = find_container(self._jobs[name])["command"]
        assert program == "estimator-train"
        with (self._folder / f"{name}-{index}.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "estimator_train", *arguments],
                cwd=self._folder,
                env={
                    **os.environ,
                    "PYTHONPATH": str(ROOT),
                    **self._variables,
                    "JOB_COMPLETION_INDEX": str(index),
                },
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.pods.append(Pod(name, index, process))

    def _handle_end(self, pod: Pod, code: int) -> None:
        if code == 0:
            self._succeeded[pod.job].add(pod.index)
            self._complete_if_done()
            return
        action = self._find_pod_action(pod, code)
        self._failures[pod.job] += action == "Count"
        if action == "FailJob":
            self._fail_job("PodFailurePolicy")
        elif self._failures[pod.job] > self._jobs[pod.job]["backoffLimit"]:
            self._fail_job("BackoffLimitExceeded")
        else:
            self.replaced[pod.job] += 1
            self._start_pod(pod.job, pod.index)

    def _find_pod_action(self, pod: Pod, code: int) -> str:
        """Returns the action of the first rule that matches."""
        for rule in self._jobs[pod.job]["podFailurePolicy"]["rules"]:
            if "onExitCodes" in rule:
                assert rule["onExitCodes"]["operator"] == "In"
                matches = code in rule["onExitCodes"]["values"]
            else:
                (condition,) = rule["onPodConditions"]
                assert condition == {"type": "DisruptionTarget", "status": "True"}
                matches = pod.is_disrupted
            if matches:
                return rule["action"]
        return "Count"

    def _fail_job(self, reason: str) -> None:
        policy = self._spec["failurePolicy"]
        actions = [
            rule["action"] for rule in policy["rules"] if reason in rule["onJobFailureReasons"]
        ]
        self.delete_pods()
        if actions[:1] == ["FailJobSet"] or self._restarts >= policy["maxRestarts"]:
            self.state = "Failed"
        else:
            self._restarts += 1
            self._create_jobs()

    def _complete_if_done(self) -> None:
        policy = self._spec.get("successPolicy", {"operator": "All"})
        assert policy["operator"] == "All"
        targets = policy.get("targetReplicatedJobs") or list(self._jobs)
        if all(len(self._succeeded[name]) == self._jobs[name]["completions"] for name in targets):
            self.state = "Completed"
            self.delete_pods()


@contextlib.contextmanager
def start_jobset(manifest: str, folder: Path, **variables: str) -> Iterator[JobSet]:
    """Starts the pods of a manifest, and ends them at the end."""
    jobset = JobSet(read_spec(manifest), folder, variables)
    try:
        yield jobset
    finally:
        jobset.delete_pods()


def finish(jobset: JobSet, secs: float) -> str:
    """Returns the state of a JobSet that has ended."""
    end = time.monotonic() + secs
    while jobset.state == "Running":
        assert time.monotonic() < end, [(pod.job, pod.index) for pod in jobset.pods]
        jobset.step()
        time.sleep(0.05)
    return jobset.state
