"""Behaviours of model_to_estimator: exports, and models made again from their configs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from cases import case
from cases_keras import dense, keras_input
from file_lists import list_files
from jobs import Api, tiny_data, tiny_estimator, tiny_input, tiny_receiver, trained


def served(path: Any, signature: str = "serving_default") -> dict[str, Any]:
    """Returns an exported signature's answer for the tiny data."""
    path = path.decode() if isinstance(path, bytes) else path
    x, _ = tiny_data()
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        loaded = tf.compat.v1.saved_model.load(session, ["serve"], path)
        found = loaded.signature_def[signature]
        (given,) = found.inputs.values()
        outputs = {key: info.name for key, info in found.outputs.items()}
        answers = session.run(outputs, {given.name: x})
    return {key: np.asarray(value).tolist() for key, value in answers.items()}


def _files(model_dir: str) -> list[str]:
    return [name for name in list_files(model_dir) if not name.startswith("export")]


def _exported_untrained(name: str, **arguments: Any) -> None:
    def run(api: Api, model_dir: str) -> Any:
        estimator = api.model_to_estimator(dense(api), model_dir=model_dir, **arguments)
        path = estimator.export_saved_model(model_dir + "/export", tiny_receiver(api))
        return [served(path), _files(model_dir)]

    run.__name__ = f"keras_export_before_training{name}"
    case(run)


_exported_untrained("")
_exported_untrained("_saver", checkpoint_format="saver")
_exported_untrained("_checkpoint", checkpoint_format="checkpoint")


@case
def keras_export_before_training_in_all_modes(api: Api, model_dir: str) -> Any:
    estimator = api.model_to_estimator(dense(api, metrics=["mae"]), model_dir=model_dir)

    def with_labels() -> Any:
        found = api.estimator.experimental.build_raw_supervised_input_receiver_fn(
            {"x": tf.compat.v1.placeholder(tf.float32, [None, 2])},
            tf.compat.v1.placeholder(tf.float32, [None, 1]),
        )
        return found()

    path = estimator.experimental_export_all_saved_models(
        model_dir + "/export",
        {"infer": tiny_receiver(api), "eval": with_labels, "train": with_labels},
    )
    return [served(path), _files(model_dir)]


@case
def export_before_training_from_a_warm_start(api: Api, model_dir: str) -> Any:
    source = trained(api, model_dir + "_source")
    found = []
    for start in (source.model_dir, source.latest_checkpoint()):
        estimator = tiny_estimator(api, f"{model_dir}{len(found)}", warm_start_from=start)
        path = estimator.export_saved_model(estimator.model_dir + "/export", tiny_receiver(api))
        found.append([served(path), _files(estimator.model_dir)])
    return found


@case
def export_before_training_from_warm_start_settings(api: Api, model_dir: str) -> Any:
    source = trained(api, model_dir + "_source")
    settings = api.estimator.WarmStartSettings(source.model_dir, vars_to_warm_start="none")
    estimator = tiny_estimator(api, model_dir, warm_start_from=settings)
    path = estimator.export_saved_model(model_dir + "/export", tiny_receiver(api))
    return served(path)


@case
def export_before_training_from_a_warm_start_without_checkpoint(api: Api, model_dir: str) -> Any:
    Path(model_dir + "_source").mkdir()
    estimator = tiny_estimator(api, model_dir, warm_start_from=model_dir + "_source")
    estimator.export_saved_model(model_dir + "/export", tiny_receiver(api))


@case
def export_after_training_from_a_warm_start(api: Api, model_dir: str) -> Any:
    source = trained(api, model_dir + "_source", steps=3)
    estimator = tiny_estimator(api, model_dir, warm_start_from=source.model_dir)
    estimator.train(tiny_input, steps=1)
    return served(estimator.export_saved_model(model_dir + "/export", tiny_receiver(api)))


def _tensorflows_outputs() -> Any:
    """TensorFlow's own classes of export outputs, which both packages can be given."""
    from tensorflow.python.saved_model.model_utils import export_output

    return export_output


def _with_export_outputs(name: str, outputs: Callable[[Api], dict[str, Any]]) -> None:
    def run(api: Api, model_dir: str) -> Any:
        estimator = api.model_to_estimator(
            dense(api), model_dir=model_dir, export_outputs=outputs(api)
        )
        estimator.train(keras_input, steps=2)
        path = estimator.export_saved_model(model_dir + "/export", tiny_receiver(api))
        text = path.decode() if isinstance(path, bytes) else path
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            loaded = tf.compat.v1.saved_model.load(session, ["serve"], text)
        return {
            key: [signature.method_name, sorted(signature.outputs)]
            for key, signature in loaded.signature_def.items()
        }

    run.__name__ = f"keras_export_outputs_{name}"
    case(run)


_with_export_outputs("of_tensorflow", lambda api: {"out": _tensorflows_outputs().PredictOutput})
_with_export_outputs("of_the_package", lambda api: {"out": api.estimator.export.PredictOutput})
_with_export_outputs(
    "of_a_function",
    lambda api: {"out": lambda tensor: _tensorflows_outputs().PredictOutput(tensor)},
)
_with_export_outputs("of_an_unknown_name", lambda api: {"no": _tensorflows_outputs().PredictOutput})
_with_export_outputs("empty", lambda api: {})


@case
def spec_with_export_outputs_of_tensorflow(api: Api, model_dir: str) -> Any:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        score = features["x"][:, 0] * tf.compat.v1.get_variable("w", initializer=2.0)
        step = tf.compat.v1.train.get_global_step()
        kinds = _tensorflows_outputs()
        return api.estimator.EstimatorSpec(
            mode,
            predictions={"score": score},
            loss=tf.reduce_sum(score),
            train_op=step.assign_add(1),
            export_outputs={"serving_default": kinds.PredictOutput({"score": score})},
        )

    estimator = tiny_estimator(api, model_dir, model_fn=model_fn)
    estimator.train(tiny_input, steps=1)
    return served(estimator.export_saved_model(model_dir + "/export", tiny_receiver(api)))


@case
def spec_with_an_export_output_of_another_kind(api: Api, model_dir: str) -> Any:
    class Mine:
        def as_signature_def(self, receiver_tensors: Any) -> Any:
            del receiver_tensors

    with tf.Graph().as_default():
        spec = api.estimator.EstimatorSpec(
            "infer", predictions=tf.constant([1.0]), export_outputs={"serving_default": Mine()}
        )
        return type(spec.export_outputs["serving_default"]).__name__


def _popping(api: Api, nested: bool) -> type:
    class Mine(api.keras.Model):
        def __init__(self, units: int = 1, names: Any = ("ones",)) -> None:
            super().__init__(name="mine")
            self.units, self.names = units, names
            self.dense = api.keras.layers.Dense(units, kernel_initializer=names[0], name="dense")

        def call(self, inputs: Any) -> Any:
            return self.dense(inputs)

        def get_config(self) -> dict[str, Any]:
            return {"units": self.units, "names": self.names}

        @classmethod
        def from_config(cls, config: dict[str, Any]) -> Any:
            units, names = config.pop("units"), config.pop("names")
            return cls(units, [names.pop()] if nested else names)

    return Mine


def _of_popping(name: str, nested: bool) -> None:
    def run(api: Api, model_dir: str) -> Any:
        model = _popping(api, nested)(1, ["ones"])
        model.compile(api.keras.optimizers.legacy.SGD(0.01), "mse")
        estimator = api.model_to_estimator(model, model_dir=model_dir, checkpoint_format="saver")

        def data(repeat: int | None = None) -> tf.data.Dataset:
            return keras_input(repeat).map(lambda x, y: (x["x"], y))

        losses = []
        for _ in range(2):
            estimator.train(data, steps=2)
            losses.append(float(estimator.evaluate(lambda: data(1))["loss"]))
        return [losses, len(list(estimator.predict(lambda: data(1))))]

    run.__name__ = f"keras_from_config_that_pops{name}"
    case(run)


_of_popping("", nested=False)
_of_popping("_from_a_list", nested=True)
