"""First values of variables from another checkpoint, as a whole or word by word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from job_cases import case_of
from jobs import Api, values

tf1 = tf.compat.v1
warm = case_of("warm_start")
OLD = ["red", "green", "blue", "grey"]
NEW = ["blue", "pink", "red", "teal", "green"]


def word_model_fn(
    api: Api,
    rows: int = 4,
    columns: int = 3,
    fresh: bool = True,
    scope: str = "",
    extra: bool = False,
) -> Any:
    """Returns an embedding and a layer on it, which training does not change.

    Args:
        rows: Words of the embedding.
        columns: Outputs of the layer.
        fresh: Whether all variables start at -1, and not at the values of the source.
        scope: Variable scope of all variables.
        extra: One more variable, which the source does not have.
    """

    def first(*shape: int) -> np.ndarray:
        return np.full(shape, -1, np.float32) if fresh else values(*shape, seed=shape[0])

    def model_fn(features, labels, mode):
        with tf1.variable_scope(scope):
            embedding = tf1.get_variable("embedding", initializer=first(rows, 2))
            layer = tf1.get_variable("layer", initializer=first(2, columns))
            counter = tf1.get_variable("counter", initializer=np.float32(5), trainable=False)
            if extra:
                tf1.get_variable("extra", initializer=first(2))
        scores = tf.matmul(tf.gather(embedding, features["word"]), layer)
        return api.estimator.EstimatorSpec(
            mode,
            predictions={"scores": scores},
            loss=tf.reduce_mean(scores),
            train_op=tf.group(tf1.train.get_global_step().assign_add(1), counter.assign_add(1.0)),
        )

    return model_fn


def word_input() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensors({"word": [0, 1, 0]}).repeat(3)


def source(api: Api, model_dir: str) -> Any:
    """Returns an Estimator with a checkpoint, whose embedding has a row for each of OLD."""
    job = api.estimator.Estimator(word_model_fn(api, fresh=False), f"{model_dir}_source")
    return job.train(word_input, steps=2)


def started(api: Api, model_dir: str, warm_start_from: Any, **model: Any) -> dict[str, Any]:
    """Variable name to value after one step, which adds 1 to the counters."""
    job = api.estimator.Estimator(
        word_model_fn(api, **model), model_dir, warm_start_from=warm_start_from
    )
    job.train(word_input, steps=1)
    return {name: job.get_variable_value(name).tolist() for name in job.get_variable_names()}


def _settings_case(name: str, /, *, model: dict[str, Any] | None = None, **settings: Any) -> None:
    def warm_start(api: Api, model_dir: str) -> Any:
        made = api.estimator.WarmStartSettings(source(api, model_dir).model_dir, **settings)
        return started(api, model_dir, made, **(model or {}))

    warm_start.__name__ = name
    warm(warm_start)


@warm
def from_a_model_dir(api: Api, model_dir: str) -> Any:
    return started(api, model_dir, source(api, model_dir).model_dir)


@warm
def from_a_checkpoint(api: Api, model_dir: str) -> Any:
    job = source(api, model_dir)
    return started(api, model_dir, f"{job.model_dir}/model.ckpt-0")


@warm
def from_a_saved_model(api: Api, model_dir: str) -> Any:
    def receiver() -> Any:
        word = {"word": tf1.placeholder(tf.int32, [None], name="word")}
        return api.estimator.export.ServingInputReceiver(word, word)

    exported = source(api, model_dir).export_saved_model(f"{model_dir}_export", receiver)
    return started(api, model_dir, exported.decode())


@warm
def from_nothing_there(api: Api, model_dir: str) -> Any:
    return started(api, model_dir, f"{model_dir}_nowhere")


@warm
def from_a_number(api: Api, model_dir: str) -> Any:
    return started(api, model_dir, 3)


@warm
def of_a_model_dir_with_a_checkpoint(api: Api, model_dir: str) -> Any:
    job = source(api, model_dir)
    started(api, model_dir, None)
    return started(api, model_dir, job.model_dir)


@warm
def evaluation_without_training(api: Api, model_dir: str) -> Any:
    job = api.estimator.Estimator(
        word_model_fn(api), model_dir, warm_start_from=source(api, model_dir).model_dir
    )
    return job.evaluate(word_input)["loss"].item()


@warm
def prediction_without_training(api: Api, model_dir: str) -> Any:
    job = api.estimator.Estimator(
        word_model_fn(api), model_dir, warm_start_from=source(api, model_dir).model_dir
    )
    return next(job.predict(word_input))["scores"].tolist()


_settings_case("by_pattern", vars_to_warm_start="emb.*")
_settings_case("by_patterns", vars_to_warm_start=["embedding", "lay"])
_settings_case("by_names", vars_to_warm_start=["embedding", "counter"])
_settings_case("by_a_pattern_of_nothing", vars_to_warm_start="nothing.*")
_settings_case("by_patterns_one_of_nothing", vars_to_warm_start=["embedding", "nothing"])
_settings_case("of_nothing", vars_to_warm_start=None)
_settings_case("of_an_empty_list", vars_to_warm_start=[])
_settings_case("with_a_variable_the_source_lacks", model={"extra": True})
_settings_case("with_another_shape", model={"columns": 4})
_settings_case(
    "with_other_names",
    model={"scope": "new"},
    var_name_to_prev_var_name={"new/embedding": "embedding", "new/layer": "layer"},
)
_settings_case("with_other_names_untold", model={"scope": "new"})
_settings_case("with_a_name_of_nothing", var_name_to_prev_var_name={"nothing": "embedding"})
_settings_case("with_an_old_name_of_nothing", var_name_to_prev_var_name={"layer": "nothing"})


def _file(directory: str, name: str, words: list[str]) -> str:
    path = Path(f"{directory}_words") / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text("".join(f"{word}\n" for word in words))
    return str(path)


def _vocabulary_case(
    name: str, /, *, variable: str = "embedding", model: dict[str, Any], **changes: Any
) -> None:
    """Returns an embedding of NEW words from one of OLD words."""

    def warm_start(api: Api, model_dir: str) -> Any:
        arguments = {
            "new_vocab": _file(model_dir, "new", changes.get("new_words", NEW)),
            "new_vocab_size": len(NEW),
            "num_oov_buckets": 0,
            "old_vocab": _file(model_dir, "old", changes.get("old_words", OLD)),
            "backup_initializer": tf1.ones_initializer(),
            **{key: value for key, value in changes.items() if not key.endswith("_words")},
        }
        settings = api.estimator.WarmStartSettings(
            source(api, model_dir).model_dir,
            vars_to_warm_start="embedding" if variable == "embedding" else ".*",
            var_name_to_vocab_info={variable: api.estimator.VocabInfo(**arguments)},
        )
        return started(api, model_dir, settings, **model)

    warm_start.__name__ = f"words_{name}"
    warm(warm_start)


_vocabulary_case("moved", model={"rows": 5})
_vocabulary_case("with_unknown_ones", model={"rows": 7}, num_oov_buckets=2)
_vocabulary_case("of_which_some_count", model={"rows": 5}, old_vocab_size=2)
_vocabulary_case("of_which_few_are_taken", model={"rows": 2}, new_vocab_size=2)
_vocabulary_case("of_a_new_file_that_is_short", model={"rows": 5}, new_words=NEW[:3])
_vocabulary_case("of_an_old_file_that_is_short", model={"rows": 5}, old_words=OLD[:3])
_vocabulary_case("of_an_old_file_that_is_long", model={"rows": 5}, old_words=[*OLD, "white"])
_vocabulary_case("of_a_variable_of_another_size", model={"rows": 6})
_vocabulary_case("of_a_file_that_is_missing", model={"rows": 5}, old_vocab="nowhere/old")
_vocabulary_case("of_an_empty_old_file", model={"rows": 5}, old_words=[])
_vocabulary_case("of_no_such_variable", model={}, variable="nothing")
_vocabulary_case(
    "of_outputs",
    variable="layer",
    model={"columns": 3},
    axis=1,
    new_vocab_size=3,
    new_words=["yes", "maybe", "no"],
    old_words=["no", "yes", "other"],
)
