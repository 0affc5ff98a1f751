"""Exporters: restarts, last exports and wrong comparisons."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from job_cases import estimator
from job_exporters import export
from jobs import tiny_input, tiny_receiver

import estimator_train as est
from estimator_train.training.exporters import (
    BestExporter,
    Exporter,
    LatestExporter,
    remove_old_exports,
)
from tests.training.our_names import OURS

tf1 = tf.compat.v1
RECEIVER = tiny_receiver(OURS)


def write_losses(eval_dir: Path, *losses: tuple[int, float]) -> Path:
    with tf.Graph().as_default():
        writer = tf1.summary.FileWriter(str(eval_dir))
        for step, loss in losses:
            value = tf1.Summary.Value(tag="loss", simple_value=loss)
            writer.add_summary(tf1.Summary(value=[value]), step)
        writer.close()
    return max(eval_dir.iterdir(), key=lambda path: path.stat().st_mtime_ns)


def results(*losses: tuple[int, float]) -> list[dict[str, Any]]:
    return [{"loss": loss, "global_step": step} for step, loss in losses]


def exported(exporter: Exporter, job: Any, *losses: tuple[int, float]) -> list[bool]:
    return [export(exporter, job, result) is not None for result in results(*losses)]


def test_the_best_survives_a_restart(tmp_path: Path) -> None:
    job = estimator(OURS, str(tmp_path)).train(tiny_input, steps=1)
    assert exported(BestExporter("best", RECEIVER), job, (2, 3.0), (4, 1.0)) == [True, True]
    # The evaluation writes its event file before the exporters see its result.
    write_losses(tmp_path / "eval", (2, 3.0), (4, 1.0), (6, 2.0))
    assert exported(BestExporter("best", RECEIVER), job, (6, 2.0), (8, 0.5)) == [False, True]


def test_one_export_may_be_kept(tmp_path: Path) -> None:
    job = estimator(OURS, str(tmp_path)).train(tiny_input, steps=1)
    exporter = BestExporter("best", RECEIVER, exports_to_keep=1)
    assert exported(exporter, job, (2, 3.0), (4, 1.0)) == [True, True]
    assert len(list((tmp_path / "export" / "best").iterdir())) == 1


def test_a_better_first_result_after_a_restart_is_exported(tmp_path: Path) -> None:
    job = estimator(OURS, str(tmp_path)).train(tiny_input, steps=1)
    exported(BestExporter("best", RECEIVER), job, (2, 3.0))
    write_losses(tmp_path / "eval", (2, 3.0), (4, 1.0))
    assert exported(BestExporter("best", RECEIVER), job, (4, 1.0)) == [True]


def test_a_torn_event_file_is_read_up_to_the_damage(tmp_path: Path) -> None:
    job = estimator(OURS, str(tmp_path)).train(tiny_input, steps=1)
    exported(BestExporter("best", RECEIVER), job, (2, 1.0))
    path = write_losses(tmp_path / "eval", (2, 1.0), (3, 0.1))
    path.write_bytes(path.read_bytes()[:-5])
    assert exported(BestExporter("best", RECEIVER), job, (4, 2.0), (6, 0.5)) == [False, True]


def distance_model_fn(features: Any, labels: Any, mode: str, params: Any) -> est.EstimatorSpec:
    """Has as loss and as prediction the distance of the global step from params["best"]."""
    step = tf1.train.get_global_step()
    distance = tf.cast(tf.abs(step - params["best"]), tf.float32)
    predictions = {"distance": features["x"] * 0 + distance}
    train_op = tf1.assign_add(step, 1)
    return est.EstimatorSpec(mode, predictions, distance, train_op)


def exported_distances(directory: Path) -> list[float]:
    """Returns what each export predicts, the oldest first."""
    found = []
    for path in sorted(directory.iterdir()):
        assert path.name.isdigit()
        with est.predictor.from_saved_model(path) as predictor:
            found.append(float(predictor({"x": np.ones(1, np.float32)})["distance"][0]))
    return found


@pytest.mark.parametrize(
    ("best", "killed_at", "expected"),
    [
        pytest.param(4, 2, [2.0, 0.0], id="later ones are worse"),
        pytest.param(6, 2, [4.0, 0.0], id="a later one is better"),
        pytest.param(2, 1, [0.0], id="before the first export"),
        pytest.param(10, 5, [8.0, 6.0, 4.0, 2.0, 0.0], id="the last"),
    ],
)
def test_a_best_checkpoint_whose_job_was_killed_before_its_export(
    tmp_path: Path, best: int, killed_at: int, expected: list[float]
) -> None:
    def input_fn() -> tf.data.Dataset:
        return tf.data.Dataset.from_tensors({"x": [0.0]}).repeat()

    calls: list[None] = []

    def receive() -> Any:
        calls.append(None)
        if len(calls) == killed_at:
            raise SystemExit("killed")
        return est.export.build_raw_serving_input_receiver_fn({"x": tf.zeros([1])})()

    def run() -> None:
        config = est.RunConfig(save_checkpoints_steps=2, keep_checkpoint_max=3)
        job = est.Estimator(distance_model_fn, tmp_path, config, {"best": best})
        exporter = est.BestExporter("best", receive)
        eval_spec = est.EvalSpec(input_fn, 1, exporters=exporter, throttle_secs=0)
        est.train_and_evaluate(job, est.TrainSpec(input_fn, 10), eval_spec)

    with pytest.raises(SystemExit):
        run()
    run()
    assert exported_distances(tmp_path / "export" / "best") == expected


def test_without_an_export_the_first_result_is_the_best(tmp_path: Path) -> None:
    job = estimator(OURS, str(tmp_path)).train(tiny_input, steps=1)
    write_losses(tmp_path / "eval", (2, 1.0))
    assert exported(BestExporter("best", RECEIVER), job, (4, 2.0)) == [True]


def test_without_a_pattern_earlier_evaluations_do_not_count(tmp_path: Path) -> None:
    job = estimator(OURS, str(tmp_path)).train(tiny_input, steps=1)
    exported(BestExporter("best", RECEIVER), job, (2, 1.0))
    write_losses(tmp_path / "eval", (2, 1.0))
    again = BestExporter("best", RECEIVER, event_file_pattern=None)
    assert exported(again, job, (4, 2.0)) == [True]


def test_a_compare_fn_that_raises_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def by_auc(best_eval_result: Any, current_eval_result: Any) -> bool:
        return current_eval_result["auc"] > best_eval_result["auc"]

    job = estimator(OURS, str(tmp_path)).train(tiny_input, steps=1)
    exporter = BestExporter("best", RECEIVER, compare_fn=by_auc)
    export(exporter, job, {"loss": 1.0})
    with pytest.raises(KeyError, match="auc"):
        export(exporter, job, {"loss": 0.5})
    assert "'best' failed for best_eval_result={'loss': 1.0}" in caplog.text
    assert "current_eval_result={'loss': 0.5}" in caplog.text


@pytest.mark.parametrize("kind", [BestExporter, LatestExporter])
def test_a_checkpoint_is_not_exported_again_as_the_last(tmp_path: Path, kind: Any) -> None:
    job = estimator(OURS, str(tmp_path)).train(tiny_input, steps=1)
    exporter = kind("name", RECEIVER)
    first = export(exporter, job, {"loss": 1.0})
    assert export(exporter, job, {"loss": 1.0}, is_final=True) == first
    assert len(list((tmp_path / "export" / "name").iterdir())) == 1


def test_a_second_job_in_an_emptied_directory_is_exported(tmp_path: Path) -> None:
    """In a notebook, the same exporter sees another checkpoint of the same path."""
    exporter = LatestExporter("name", RECEIVER)
    for _ in range(2):
        job = estimator(OURS, str(tmp_path / "model")).train(tiny_input, steps=1)
        written = export(exporter, job, {"loss": 1.0}, is_final=True)
        assert Path(written.decode()).is_dir()
        shutil.rmtree(tmp_path / "model")


def test_an_old_export_that_cannot_be_removed_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    job = estimator(OURS, str(tmp_path)).train(tiny_input, steps=1)
    old = tmp_path / "export" / "latest" / "1700000000"
    old.parent.mkdir(parents=True)
    old.symlink_to(tmp_path / "nowhere")
    exporter = LatestExporter("latest", RECEIVER, exports_to_keep=1)
    assert export(exporter, job) is not None
    assert f"Could not remove the old export {old.parent}/removed-{old.name}:" in caplog.text


def test_an_exporter_class_must_define_export() -> None:
    class Half(Exporter):
        name = "half"

    with pytest.raises(TypeError, match="abstract"):
        Half()


def test_a_removed_export_is_never_visible_in_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for stamp in ("1700000001", "1700000002", "1700000003"):
        (tmp_path / stamp).mkdir()
        (tmp_path / stamp / "saved_model.pb").write_bytes(b"")
    writing = tmp_path / "temp-1700000004"
    writing.mkdir()

    def killed(path: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(tf.io.gfile, "rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            remove_old_exports(str(tmp_path), 1)
    numbered = [path for path in tmp_path.iterdir() if path.name.isdigit()]
    assert [path.name for path in numbered] == ["1700000003"]
    assert (tmp_path / "removed-1700000001").exists()
    remove_old_exports(str(tmp_path), 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1700000003", writing.name]
