"""Damaged checkpoints: found, named, and replaced by an older one where that is safe.

These tests cover `checkpoints/damage.py`.
"""

import os
import shutil

import numpy as np
import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train import remote
from estimator_train.engine.checkpoints import integrity
from estimator_train.engine.checkpoints.model_dir import repair_checkpoint_list
from estimator_train.training.evaluator import _Evaluator

CUTS = 12


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Returns a model_dir with checkpoints of steps 0, 5 and 10, and the weights by step."""

    def model_fn(features, labels, mode):
        w = tf.compat.v1.get_variable("w", [40, 3])
        if mode == est.ModeKeys.PREDICT:
            return est.EstimatorSpec(mode, predictions={"p": w[:1]})
        loss = tf.reduce_mean((features @ w - labels) ** 2)
        step = tf.compat.v1.train.get_global_step()
        train_op = tf.compat.v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss, step)
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op)

    def input_fn():
        x = np.random.RandomState(0).randn(8, 40).astype(np.float32)
        return tf.data.Dataset.from_tensors((x, x[:, :3])).repeat()

    model_dir = tmp_path_factory.mktemp("trained")
    config = est.RunConfig(save_checkpoints_steps=5, tf_random_seed=1)
    est.Estimator(model_fn, model_dir, config).train(input_fn, steps=10)
    weights = {
        step: tf.train.load_variable(str(model_dir / f"model.ckpt-{step}"), "w")
        for step in (0, 5, 10)
    }
    return model_dir, model_fn, input_fn, weights


@pytest.fixture(autouse=True)
def reads_again_at_once(monkeypatch):
    """Removes the pauses between the four readings of damaged files."""
    monkeypatch.setattr(integrity, "_READING_DELAYS_SECS", (0, 0, 0))


@pytest.fixture
def copy(trained, tmp_path):
    model_dir, model_fn, input_fn, weights = trained
    shutil.copytree(model_dir, tmp_path / "m")
    return est.Estimator(model_fn, tmp_path / "m"), tmp_path / "m", input_fn, weights


def latest_files(model_dir):
    return sorted(str(p.name) for p in model_dir.glob("model.ckpt-10.*") if p.suffix != ".meta")


def loaded_weights(estimator):
    path = estimator.latest_checkpoint()
    return int(path.rpartition("-")[2]), tf.train.load_variable(path, "w")


def check_never_wrong(estimator, weights):
    """Checks that the checkpoint in use has the weights of its step, and returns the step."""
    step, found = loaded_weights(estimator)
    np.testing.assert_array_equal(found, weights[step])
    return step


@pytest.mark.parametrize("kind", ["cut", "flip"])
def test_any_damage_selects_the_checkpoint_before(copy, kind, caplog):
    estimator, model_dir, _, weights = copy
    for name in latest_files(model_dir):
        path = model_dir / name
        whole = path.read_bytes()
        for number, place in enumerate(np.linspace(0, len(whole) - 1, CUTS).astype(int)):
            torn = whole[:place]
            if kind == "flip":
                torn += bytes(b ^ 0xFF for b in whole[place : place + 7]) + whole[place + 7 :]
            path.write_bytes(torn)
            # The clock of the file system is too coarse to distinguish these writes.
            os.utime(path, ns=(number, number))
            caplog.clear()
            step = check_never_wrong(estimator, weights)
            # A flipped byte may be padding; each cut removes a byte that is read.
            assert step == 5 or kind == "flip"
            if step == 5:
                assert "model.ckpt-10" in caplog.text
                assert "Using" in caplog.text
                assert "model.ckpt-5" in caplog.text
        path.write_bytes(whole)
    assert check_never_wrong(estimator, weights) == 10


def test_a_missing_file_selects_the_checkpoint_before(copy):
    estimator, model_dir, _, weights = copy
    for name in latest_files(model_dir):
        os.rename(model_dir / name, model_dir / "away")
        assert check_never_wrong(estimator, weights) == 5
        os.rename(model_dir / "away", model_dir / name)


@pytest.mark.parametrize("content", [None, b"", b"\x00\xff\x13 nonsense", b"model_checkpoint_pa"])
def test_the_file_that_names_the_latest_checkpoint_is_rebuilt(copy, content, caplog):
    estimator, model_dir, input_fn, weights = copy
    (model_dir / "checkpoint").unlink()
    if content is not None:
        (model_dir / "checkpoint").write_bytes(content)
    assert check_never_wrong(estimator, weights) == 10
    assert "is missing or cannot be read" in caplog.text
    repair_checkpoint_list(str(model_dir))
    state = tf.train.get_checkpoint_state(str(model_dir))
    names = [os.path.basename(path) for path in state.all_model_checkpoint_paths]
    assert names == ["model.ckpt-0", "model.ckpt-5", "model.ckpt-10"]
    assert estimator.train(input_fn, steps=1).get_variable_value("global_step") == 11


@pytest.mark.parametrize("kind", ["relative", "remote"])
def test_a_rebuilt_list_names_checkpoints_of_its_directory(copy, kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model_dir = "m"
    if kind == "remote":
        remote.register("memory")
        model_dir = f"memory:/{tmp_path}/m"
        for file in (tmp_path / "m").iterdir():
            if file.is_file():
                tf.io.gfile.copy(str(file), f"{model_dir}/{file.name}")
    with tf.io.gfile.GFile(f"{model_dir}/model.ckpt-10.index", "wb") as file:
        file.write(b"damaged")
    repair_checkpoint_list(model_dir)
    state = tf.train.get_checkpoint_state(model_dir)
    assert state.model_checkpoint_path == f"{model_dir}/model.ckpt-5"
    assert list(state.all_model_checkpoint_paths) == [
        f"{model_dir}/model.ckpt-0", f"{model_dir}/model.ckpt-5"
    ]  # fmt: skip


def test_a_shard_of_a_checkpoint_that_was_not_completed_is_no_checkpoint(copy):
    # A kill during the first save of a directory on S3, which has no file `checkpoint` yet.
    estimator, model_dir, _, weights = copy
    for name in ("index", "data-00000-of-00001"):
        shard = model_dir / f"model.ckpt-15.part-00000-of-00002.{name}"
        shutil.copy(model_dir / f"model.ckpt-10.{name}", shard)
    (model_dir / "checkpoint").unlink()
    assert os.path.basename(estimator.latest_checkpoint()) == "model.ckpt-10"
    for file in model_dir.glob("model.ckpt-*"):
        if ".part-" not in file.name:
            file.unlink()
    assert estimator.latest_checkpoint() is None


def evaluations_of(estimator, input_fn):
    """Returns an evaluator of the checkpoints that other processes write."""
    spec = est.EvalSpec(input_fn, steps=1, throttle_secs=0)
    return _Evaluator(estimator, est.TrainSpec(input_fn, max_steps=10), [spec])


def test_every_reader_uses_the_checkpoint_before_a_damaged_one(copy):
    estimator, model_dir, input_fn, weights = copy
    (model_dir / "model.ckpt-10.index").write_bytes(b"torn")
    assert estimator.evaluate(input_fn, steps=1)["global_step"] == 5
    predicted = next(estimator.predict(lambda: input_fn().map(lambda x, _: x)))
    np.testing.assert_array_equal(predicted["p"], weights[5][0])
    with estimator.predictor() as predictor:
        found = predictor.predict(np.zeros([8, 40], np.float32))
        np.testing.assert_array_equal(found["p"], weights[5][:1])
    x = tf.TensorSpec([None, 40], tf.float32)
    receiver = est.export.build_raw_serving_input_receiver_fn({"x": x})
    exported = estimator.export_saved_model(str(model_dir.parent / "exports"), receiver)
    variables = os.path.join(exported.decode(), "variables", "variables")
    np.testing.assert_array_equal(tf.train.load_variable(variables, "w"), weights[5])
    evaluator = evaluations_of(estimator, input_fn)
    assert not evaluator.evaluate_due()
    assert evaluator.evaluations[0].metrics["global_step"] == 5
    warm = est.Estimator(
        estimator._model_fn, model_dir.parent / "warm", warm_start_from=str(model_dir)
    )
    warm.train(input_fn, steps=1)
    first = tf.train.load_variable(str(model_dir.parent / "warm" / "model.ckpt-0"), "w")
    np.testing.assert_array_equal(first, weights[5])


def test_training_resumes_from_the_whole_checkpoint_and_keeps_its_retention(copy):
    estimator, model_dir, input_fn, _ = copy
    (model_dir / "model.ckpt-10.index").write_bytes(b"torn")
    estimator.train(input_fn, max_steps=10)
    state = tf.train.get_checkpoint_state(str(model_dir))
    names = [os.path.basename(path) for path in state.all_model_checkpoint_paths]
    assert names == ["model.ckpt-0", "model.ckpt-5", "model.ckpt-10"]
    assert estimator.latest_checkpoint() == str(model_dir / "model.ckpt-10")


def test_a_checkpoint_deleted_during_a_read_is_replaced_by_the_next(copy, monkeypatch, caplog):
    estimator, model_dir, _, weights = copy
    read = tf.train.load_checkpoint

    def read_too_late(path):
        """Simulates a job that saves step 15 and deletes all other checkpoints."""
        if path.endswith("-10") and not (model_dir / "model.ckpt-15.index").exists():
            for old in [*model_dir.glob("model.ckpt-*")]:
                if old.name.startswith("model.ckpt-10."):
                    old.rename(model_dir / old.name.replace("-10.", "-15."))
                else:
                    old.unlink()
            (model_dir / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-15"\n')
        return read(path)

    monkeypatch.setattr(tf.train, "load_checkpoint", read_too_late)
    caplog.clear()
    assert estimator.latest_checkpoint() == str(model_dir / "model.ckpt-15")
    found = tf.train.load_variable(str(model_dir / "model.ckpt-15"), "w")
    np.testing.assert_array_equal(found, weights[10])
    assert not caplog.text


def test_reading_the_list_logs_nothing(copy, caplog):
    _, model_dir, *_ = copy
    with caplog.at_level("INFO", "tensorflow"):
        assert integrity.latest_checkpoint(str(model_dir))
    assert caplog.text == ""


def test_error_names_all_checkpoints_if_all_are_damaged(copy):
    estimator, model_dir, input_fn, _ = copy
    for path in model_dir.glob("*.index"):
        path.write_bytes(b"torn")
    with pytest.raises(ValueError, match="can be read .*model.ckpt-10.*model.ckpt-5.*ckpt-0"):
        estimator.train(input_fn, steps=1)


def test_checkpoint_of_this_process_is_not_read_again(copy, monkeypatch):
    estimator, _, input_fn, _ = copy
    estimator.train(input_fn, steps=1)
    monkeypatch.setattr(tf.train, "load_checkpoint", None)
    assert estimator.latest_checkpoint().endswith("model.ckpt-11")


def test_a_damaged_checkpoint_is_read_four_times_by_a_process(copy, monkeypatch):
    _, model_dir, _, _ = copy
    (model_dir / "model.ckpt-10.index").write_bytes(b"torn")
    read_checkpoint, reads = integrity.read_checkpoint, []

    def note(path, files):
        reads.append(path)
        return read_checkpoint(path, files)

    monkeypatch.setattr(integrity, "read_checkpoint", note)
    found = [integrity.find_damage(str(model_dir / "model.ckpt-10")) for _ in range(2)]
    assert found[0] == found[1] is not None
    assert len(reads) == 4


def test_damaged_checkpoints_count_as_existing(copy, tmp_path):
    _, model_dir, _, _ = copy
    for path in model_dir.glob("*.index"):
        path.write_bytes(b"torn")
    assert integrity.has_checkpoint(str(model_dir))
    (model_dir / "checkpoint").unlink()
    assert integrity.has_checkpoint(str(model_dir))
    assert not integrity.has_checkpoint(str(tmp_path))
    assert not integrity.has_checkpoint(str(model_dir / "model.ckpt-10.index"))


def test_empty_and_missing_directories_have_no_checkpoint(tmp_path):
    assert integrity.latest_checkpoint(str(tmp_path)) is None
    assert integrity.latest_checkpoint(str(tmp_path / "missing")) is None


@pytest.fixture
def large(copy, monkeypatch):
    """Provides an estimator whose checkpoints count as large, and the checkpoints that it reads."""
    monkeypatch.setattr(integrity, "_MIN_UNREAD_BYTES", 1)
    monkeypatch.setattr(integrity, "_known", {})
    read = []
    read_checkpoint = integrity.read_checkpoint

    def note(path, files):
        read.append(os.path.basename(path))
        return read_checkpoint(path, files)

    monkeypatch.setattr(integrity, "read_checkpoint", note)
    return copy, read


@pytest.mark.parametrize(("size", "is_large"), [(64 * 2**20, True), (64 * 2**20 - 1, False)])
def test_checkpoints_of_64_mib_or_more_are_large(size, is_large):
    files = [("model.ckpt-1.index", 10**9), ("model.ckpt-1.data-00000-of-00001", size)]
    assert integrity.is_large(files) is is_large


def flip(path):
    content = path.read_bytes()
    middle = len(content) // 2
    path.write_bytes(content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :])


def test_large_checkpoints_are_restored_without_a_second_reading(large):
    (estimator, model_dir, input_fn, weights), read = large
    data = model_dir / "model.ckpt-10.data-00000-of-00001"
    before = integrity.compute_fingerprint(str(data))
    prediction = next(estimator.predict(input_fn, yield_single_examples=False))
    np.testing.assert_array_equal(prediction["p"], weights[10][:1])
    estimator.train(input_fn, max_steps=12)
    assert estimator.get_variable_value("global_step") == 12
    assert read == []
    # The first save of the training would write the values that it restored.
    assert integrity.compute_fingerprint(str(data)) == before


def test_a_restore_that_finds_damage_uses_the_checkpoint_before(large, caplog):
    (estimator, model_dir, input_fn, weights), read = large
    flip(model_dir / "model.ckpt-10.data-00000-of-00001")
    assert estimator.evaluate(input_fn, steps=1)["global_step"] == 5
    assert "Using" in caplog.text
    estimator.train(input_fn, max_steps=7)
    assert estimator.get_variable_value("global_step") == 7
    assert set(read) == {"model.ckpt-10"}
    names = tf.train.get_checkpoint_state(model_dir).all_model_checkpoint_paths
    assert [os.path.basename(name) for name in names] == [
        "model.ckpt-0",
        "model.ckpt-5",
        "model.ckpt-7",
    ]


def test_training_that_meets_damage_first_repairs_the_list(large, caplog):
    (estimator, model_dir, input_fn, _), _ = large
    flip(model_dir / "model.ckpt-10.data-00000-of-00001")
    estimator.train(input_fn, max_steps=7)
    assert estimator.get_variable_value("global_step") == 7
    assert "All files of the damaged checkpoint are kept." in caplog.text


def test_a_warm_start_from_a_directory_reads_large_checkpoints(large):
    (_, model_dir, _, _), read = large
    flip(model_dir / "model.ckpt-10.data-00000-of-00001")
    assert integrity.latest_checkpoint(str(model_dir)) == str(model_dir / "model.ckpt-5")
    assert set(read) == {"model.ckpt-10", "model.ckpt-5"}


def test_a_large_checkpoint_that_lacks_data_is_read_before_a_restore(large):
    (estimator, model_dir, input_fn, _), read = large
    path = model_dir / "model.ckpt-10.data-00000-of-00001"
    path.write_bytes(path.read_bytes()[:-1])
    assert estimator.evaluate(input_fn, steps=1)["global_step"] == 5
    assert set(read) == {"model.ckpt-10"}
