"""Whole jobs go as those of the original, case by case."""

from __future__ import annotations

import all_jobs
import job_cases
import pytest
import tiers
from alike import assert_alike, assert_lines_in_order, without_early_graph
from outcomes import recorded

from tests.training.our_names import OURS

GOLDEN = {subject: recorded(f"train_and_evaluate_{subject}") for subject in all_jobs.CASES}
# Our package names the mistake where the original says nothing or fails inside a graph.
CLEARER = {
    "words_of_a_new_file_that_is_short": ("ValueError", "has 3 lines, but 5 are needed by new_"),
    "words_of_an_empty_old_file": ("ValueError", "has 0 lines, but 1 are needed by old_vocab"),
    "words_of_a_file_that_is_missing": ("NotFoundError", "nowhere/old; No such file or dir"),
}
# The original calls a checkpoint the final one only at max_steps: after an early end FinalExporter
# exports nothing, and an evaluator of a cluster waits for further checkpoints until it is killed.
FINAL_CHECKPOINTS = {
    "an_early_end_of_the_input": [["model.ckpt-8", True]],
    "an_early_end_of_the_input_at_a_checkpoint": [["model.ckpt-6", False], ["model.ckpt-6", True]],
    "an_early_end_without_max_steps": [["model.ckpt-8", True]],
    "an_early_end_by_a_hook": [["model.ckpt-1", True]],
}
# After a restart the original's BestExporter exports the first evaluated checkpoint, better or not.
RESULTS = {"best_exporter_after_a_restart": [1, 1]}
# The original returns nothing for a job that has ended; here, the recorded metrics.
LAST_METRICS = {
    "a_finished_model_dir": [{"loss": 0.009961909, "mae": 0.08258247, "global_step": 7}, None]
}
# An evaluation without a batch writes nothing, and warns.
WITHOUT_BATCHES = {"an_empty_evaluation_input"}
PAIRS = [(subject, name) for subject, golden in GOLDEN.items() for name in sorted(golden)]


@pytest.mark.parametrize(("subject", "name"), tiers.every(30, PAIRS))
def test_jobs_have_the_recorded_course(subject: str, name: str) -> None:
    expected = GOLDEN[subject][name]
    seen = job_cases.observe(all_jobs.CASES[subject][name], OURS)
    if name in CLEARER:
        expected = {"error": CLEARER[name], "log": []}
    if name in RESULTS:
        expected = {"result": RESULTS[name], "log": []}
    if name in LAST_METRICS:
        expected = {**expected, "result": [LAST_METRICS[name], *expected["result"][1:]]}
    if name in WITHOUT_BATCHES:
        saved = ("INFO Saving dict", "INFO Saving 'checkpoint_path'")
        log = [line for line in expected["log"] if not line.startswith(saved)]
        expected = {**expected, "log": log}
    if name in FINAL_CHECKPOINTS:
        _, calls = expected["result"]
        calls = [*calls[:-1], *FINAL_CHECKPOINTS[name]]
        expected = {**expected, "result": ["str <model_dir>/export/final", calls]}
    if "error" in expected:
        assert "error" in seen, f"no error, but {seen['result']}"
        assert seen["error"][0] == expected["error"][0], seen["error"]
        assert expected["error"][1] in seen["error"][1]
    else:
        assert "error" not in seen, seen["error"]
        assert_alike(seen["result"], without_early_graph(expected["result"]), abs=1e-6)
    assert_lines_in_order(seen["log"], expected["log"])
