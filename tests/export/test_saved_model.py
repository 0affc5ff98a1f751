"""SavedModels: signatures, tags, and atomic writes.

These tests cover `export/saved_model.py`.
"""

from __future__ import annotations

import concurrent.futures
import itertools
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ask_export
import numpy as np
import pytest
import tensorflow as tf
import tf_keras
from jobs import Api, tiny_receiver, trained
from outcomes import logged, recorded

import estimator_train
from estimator_train import export
from estimator_train.estimator_spec import EstimatorSpec
from estimator_train.export import receivers, saved_model
from estimator_train.export.signatures import make_signatures
from estimator_train.keras.model_to_estimator import model_to_estimator

v1 = tf.compat.v1
ESTIMATOR = SimpleNamespace(EstimatorSpec=EstimatorSpec, export=export)
GOLDEN = recorded("saved_model")
EXPORTS = ask_export.exports(export, receivers.build_raw_supervised_input_receiver_fn)
FLOATS = ask_export.Export(
    {"infer": export.build_raw_serving_input_receiver_fn({"x": tf.zeros([1, 2])})}
)


def exported(
    question: ask_export.Export,
    base: Path,
    before_end: Callable[[], None] = lambda: None,
    **options: Any,
) -> str:
    """Exports the model of the question with weights of one, with the functions of the engine."""
    model_fn = ask_export.make_model_fn(ESTIMATOR, question.outputs)
    modes = [mode for mode in saved_model.EXPORT_TAGS if mode in question.receivers]
    with saved_model.open_writer(str(base), **options) as writer:
        for mode in modes:
            with tf.Graph().as_default(), v1.Session() as session:
                v1.train.create_global_step()
                receiver = question.receivers[mode]()
                labels = getattr(receiver, "labels", None)
                spec = model_fn(receiver.features, labels, mode)
                signatures = make_signatures(spec, receiver)
                main_op = v1.train.Scaffold.default_local_init_op()
                saver = v1.train.Saver(sharded=True)
                session.run(v1.global_variables_initializer())
                writer.add(
                    mode,
                    session,
                    signatures,
                    saver=saver,
                    main_op=main_op,
                    train_op=spec.train_op,
                )
        before_end()
    return writer.path


@pytest.mark.parametrize("name", sorted(EXPORTS))
def test_exports_equal_those_of_tf_estimator(name: str, tmp_path: Path) -> None:
    with logged() as lines:
        path = exported(EXPORTS[name], tmp_path)
    found = ask_export.saved_model(path)
    assert found == GOLDEN[name]["saved model"]
    assert [line for line in lines if ask_export.is_about_signatures(line)] == GOLDEN[name]["log"]


def test_the_signatures_are_named_if_there_is_no_default(tmp_path: Path) -> None:
    with logged() as lines:
        exported(EXPORTS["train"], tmp_path)
    assert (
        "WARNING A client must name one of ['train'], unless export_outputs has the key "
        "'serving_default'."
    ) in lines


def test_an_export_has_the_fingerprint_of_its_graphs(tmp_path: Path) -> None:
    path = exported(FLOATS, tmp_path)
    found = tf.saved_model.experimental.read_fingerprint(path)
    with open(f"{path}/saved_model.pb", "ab") as file:
        # An unknown field, 15 with the number 1: another file of the same model.
        file.write(bytes([15 << 3, 1]))
    saved_model.write_fingerprint(path)
    changed = tf.saved_model.experimental.read_fingerprint(path)
    assert found.saved_model_checksum != changed.saved_model_checksum
    assert found.signature_def_hash == changed.signature_def_hash != 0


def test_an_export_holds_no_collection_of_savers(tmp_path: Path) -> None:
    api = Api("v2", estimator_train, tf_keras, model_to_estimator)
    path = trained(api, str(tmp_path / "model")).export_saved_model(
        str(tmp_path / "export"), tiny_receiver(api)
    )
    with tf.Graph().as_default(), v1.Session() as session:
        meta_graph = v1.saved_model.load(session, ["serve"], path.decode())
    # TensorFlow logs an error when it loads a collection without values.
    assert "savers" not in meta_graph.collection_def
    assert all(values.WhichOneof("kind") for values in meta_graph.collection_def.values())


def test_the_export_computes_the_same_as_the_model(tmp_path: Path) -> None:
    serve = tf.saved_model.load(exported(FLOATS, tmp_path)).signatures["serving_default"]
    assert serve(x=tf.constant([[1.0, 2.0], [3.0, 4.0]]))["score"].numpy().tolist() == [[3], [7]]


def test_an_exported_training_graph_trains(tmp_path: Path) -> None:
    path = exported(EXPORTS["train"], tmp_path)
    with tf.Graph().as_default() as graph, v1.Session() as session:
        meta = v1.saved_model.load(session, ["train"], path)
        signature = meta.signature_def["train"]
        feed = {signature.inputs["x"].name: [[1.0, 2.0]], signature.inputs["label"].name: [[0.0]]}
        losses = []
        for _ in range(2):
            losses.append(session.run(signature.outputs["loss"].name, feed))
            session.run(graph.get_collection("saved_model_train_op"), feed)
        # One step: weights 1 - 0.1 * 2 * 3 * (1, 2) = (0.4, -0.2).
        assert losses == pytest.approx([9.0, 0.0])


def test_a_text_export_is_a_pbtxt(tmp_path: Path) -> None:
    path = Path(exported(FLOATS, tmp_path, as_text=True))
    assert "saved_model_schema_version: 1" in (path / "saved_model.pbtxt").read_text()


def test_default_attributes_can_be_kept(tmp_path: Path) -> None:
    path = exported(FLOATS, tmp_path, strip_default_attrs=False)
    assert not ask_export.saved_model(path)["graphs"][0]["stripped_default_attrs"]


def test_extra_assets_are_copied(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("a b")
    source = str(tmp_path / "words.txt")
    path = exported(FLOATS, tmp_path / "to", assets_extra={"deep/w.txt": source, "w": source})
    assert (Path(path) / "assets.extra/deep/w.txt").read_text() == "a b"
    assert (Path(path) / "assets.extra/w").read_text() == "a b"


@pytest.mark.parametrize("name", [b"deep/w", Path("deep/w")])
def test_an_extra_asset_has_a_name_of_any_kind_of_path(tmp_path: Path, name: Any) -> None:
    (tmp_path / "words.txt").write_text("a b")
    path = exported(FLOATS, tmp_path / "to", assets_extra={name: tmp_path / "words.txt"})
    assert (Path(path) / "assets.extra/deep/w").read_text() == "a b"


@pytest.mark.parametrize(
    ("names", "source", "error", "message"),
    [
        (
            ["w"],
            "",
            tf.errors.InvalidArgumentError,
            r"is a directory, in assets_extra\['w'\]; give",
        ),
        (["w/"], "words.txt", tf.errors.AlreadyExistsError, r"assets_extra\['w/'\] is no path"),
        ([""], "words.txt", tf.errors.AlreadyExistsError, r"assets_extra\[''\] is no path"),
        (["w", "./w"], "words.txt", tf.errors.AlreadyExistsError, r"\['./w'\] is no path of a new"),
    ],
)
def test_an_asset_that_cannot_be_copied_is_named_before_anything_is_written(
    tmp_path: Path, names: list[str], source: str, error: type[Exception], message: str
) -> None:
    (tmp_path / "words.txt").write_text("a b")
    with pytest.raises(error, match=message):
        exported(FLOATS, tmp_path / "to", assets_extra=dict.fromkeys(names, tmp_path / source))
    assert not (tmp_path / "to").exists()


def test_a_checkpoint_path_may_be_a_path_object(tmp_path: Path) -> None:
    api = Api("v2", estimator_train, tf_keras, model_to_estimator)
    estimator = trained(api, str(tmp_path / "model"))
    checkpoint = Path(estimator.latest_checkpoint())
    paths = [
        estimator.export_saved_model(tmp_path / "to", tiny_receiver(api), checkpoint_path=given)
        for given in (checkpoint, bytes(checkpoint))
    ]
    assert len(set(paths)) == 2


def test_a_missing_asset_is_named_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.NotFoundError, match=r"absent.*assets_extra\['w'\]"):
        exported(FLOATS, tmp_path, assets_extra={"w": "absent"})
    assert list(tmp_path.iterdir()) == []


def test_assets_of_the_graph_are_part_of_the_export(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("zero\none\n")

    def receiver_fn() -> export.ServingInputReceiver:
        text = v1.placeholder(tf.string, [None])
        initializer = tf.lookup.TextFileInitializer(
            str(words), tf.string, 0, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
        )
        numbers = tf.lookup.StaticHashTable(initializer, -1).lookup(text)
        x = tf.cast(tf.stack([numbers, numbers], axis=1), tf.float32)
        return export.ServingInputReceiver({"x": x}, {"word": text})

    path = exported(ask_export.Export({"infer": receiver_fn}), tmp_path)
    words.unlink()
    assert (Path(path) / "assets/words.txt").read_text() == "zero\none\n"
    serve = tf.saved_model.load(path).signatures["serving_default"]
    assert serve(word=tf.constant(["one", "none"]))["score"].numpy().tolist() == [[2], [-2]]


def test_an_export_appears_only_when_it_is_complete(tmp_path: Path) -> None:
    seen: list[list[str]] = []
    path = exported(
        FLOATS, tmp_path, lambda: seen.append(sorted(p.name for p in tmp_path.iterdir()))
    )
    name = Path(path).name
    assert seen == [[f"temp-{name}"]]
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_a_failed_export_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        raise RuntimeError("disk on fire")

    with pytest.raises(RuntimeError, match="disk on fire"):
        exported(FLOATS, tmp_path, fail)
    assert list(tmp_path.iterdir()) == []


def test_exports_of_the_same_second_get_different_names(tmp_path: Path) -> None:
    paths = [exported(FLOATS, tmp_path) for _ in range(3)]
    numbers = [int(Path(path).name) for path in paths]
    assert numbers == sorted(set(numbers))


def test_exports_that_begin_at_once_get_different_names(tmp_path: Path) -> None:
    """An export also removed the directory of the other, when it failed over it."""
    begin = threading.Barrier(8)

    def write(number: int) -> None:
        begin.wait()
        with saved_model.open_writer(str(tmp_path), as_text=True) as writer:
            Path(saved_model.get_temporary_dir(writer.path), str(number)).touch()

    for _ in range(20):
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            list(threads.map(write, range(8)))
    owners = [[int(file.name) for file in path.glob("[0-9]")] for path in tmp_path.iterdir()]
    assert sorted(owners) == sorted([number] for number in range(8) for _ in range(20))


def test_an_export_after_those_of_a_clock_that_was_ahead_is_the_newest(tmp_path: Path) -> None:
    ahead = int(time.time()) + 1000
    for name in (str(ahead), "temp-4000000000", "5", "removed-4000000000"):
        (tmp_path / name).mkdir()
    assert exported(FLOATS, tmp_path) == str(tmp_path / str(ahead + 1))


def test_a_directory_left_by_a_killed_export_is_not_used(tmp_path: Path) -> None:
    first = saved_model.choose_export_dir(str(tmp_path))
    left = Path(saved_model.get_temporary_dir(first))
    left.mkdir()
    path = exported(FLOATS, tmp_path)
    assert left.name == f"temp-{Path(first).name}"
    assert path != first
    assert left.exists()


@pytest.mark.parametrize("is_first", [True, False])
def test_a_cross_whose_keys_are_of_another_kind_logs_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, is_first: bool
) -> None:
    """TensorFlow hashes dense keys last: only the first of two keys is hashed at another place."""
    column = tf.feature_column
    bucket = column.bucketized_column(column.numeric_column("x"), [0.0])
    cross = column.crossed_column(["word", bucket] if is_first else [bucket, "word"], 1000)

    def input_fn() -> tf.data.Dataset:
        features = {"x": [-1.0, 1.0], "word": ["a", "b"]}
        return tf.data.Dataset.from_tensors((features, [0, 1])).repeat(2)

    def receive_dense() -> Any:
        features = {
            "x": v1.placeholder(tf.float32, [None]),
            "word": v1.placeholder(tf.string, [None]),
        }
        return export.ServingInputReceiver(features, features)

    estimator = estimator_train.LinearClassifier([cross], model_dir=tmp_path / "run")
    estimator.train(input_fn)
    estimator.export_saved_model(tmp_path / "dense", receive_dense)
    assert "crossed column" not in caplog.text
    spec = column.make_parse_example_spec([cross])
    receive_examples = export.build_parsing_serving_input_receiver_fn(spec)
    estimator.export_saved_model(tmp_path / "parsed", receive_examples)
    message = "has 2 sparse and 0 dense keys in this export, and had 1 and 1 in the training."
    assert (message in caplog.text) == is_first


@pytest.mark.parametrize("has_bucket", [True, False])
def test_a_cross_of_several_strings_that_keep_their_order_logs_no_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, has_bucket: bool
) -> None:
    """Strings that are all dense in the training and all parsed in the export keep their ids."""
    column = tf.feature_column
    bucket = [column.bucketized_column(column.numeric_column("x"), [0.0])] if has_bucket else []
    cross = column.crossed_column([*bucket, "word", "place"], 1000)
    words, places = ["a", "b", "a", "b"], ["north", "south", "south", "north"]

    def input_fn() -> tf.data.Dataset:
        features = {"x": [-1.0, 1.0, 1.0, -1.0], "word": words, "place": places}
        return tf.data.Dataset.from_tensors((features, [0, 1, 1, 0])).repeat(5)

    estimator = estimator_train.LinearClassifier([cross], model_dir=tmp_path / "run")
    estimator.train(input_fn)
    spec = column.make_parse_example_spec([cross])
    receive_examples = export.build_parsing_serving_input_receiver_fn(spec)
    path = estimator.export_saved_model(tmp_path / "parsed", receive_examples)
    assert "crossed column" not in caplog.text
    examples = []
    for x, word, place in zip([-1.0, 1.0, 1.0, -1.0], words, places, strict=True):
        example = tf.train.Example()
        example.features.feature["x"].float_list.value.append(x)
        example.features.feature["word"].bytes_list.value.append(word.encode())
        example.features.feature["place"].bytes_list.value.append(place.encode())
        examples.append(example.SerializeToString())
    serve = tf.saved_model.load(path.decode()).signatures["predict"]
    served = serve(examples=tf.constant(examples))["logits"]
    predicted = [row["logits"] for row in itertools.islice(estimator.predict(input_fn), 4)]
    np.testing.assert_allclose(served.numpy(), predicted, rtol=1e-6)
    assert len({float(row[0]) for row in predicted}) > 1
