"""Private members of tf.estimator.Estimator that subclasses and programs were seen to use."""

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from estimator_train.engine.user_functions import call_with_known
from estimator_train.estimator_spec.spec import EstimatorSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    from estimator_train.run_config import RunConfig


class PrivateNames:
    """Gives an estimator those names; what they return is what the estimator itself uses."""

    _config: "RunConfig"
    _model_fn: "Callable[..., EstimatorSpec]"
    params: Any

    @property
    def _model_dir(self) -> str:
        return self._config.model_dir

    @property
    def _session_config(self) -> Any:
        return self._config.session_config

    @property
    def _train_distribution(self) -> Any:
        return self._config.train_distribute

    @property
    def _eval_distribution(self) -> Any:
        return self._config.eval_distribute

    @property
    def _device_fn(self) -> Any:
        return self._config.device_fn

    def _create_global_step(self, graph: tf.Graph) -> tf.Variable:
        return tf.compat.v1.train.create_global_step(graph)

    def _create_and_assert_global_step(self, graph: tf.Graph) -> tf.Variable:
        step = self._create_global_step(graph)
        if step is not tf.compat.v1.train.get_global_step(graph):
            raise ValueError("_create_global_step must make the global step of the graph.")
        return step

    def _call_model_fn(self, features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        available = {"features": features, "labels": labels, "mode": mode, "config": config}
        return call_with_known(self._model_fn, {**available, "params": self.params})
