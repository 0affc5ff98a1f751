"""The loss of a compiled Keras model in a graph."""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import tensorflow as tf
import tf_keras

from estimator_train.keras.compiled.compile_arguments import CompileArguments
from estimator_train.keras.graph.io_names import Names

Loss: TypeAlias = tf_keras.losses.Loss
_SUMS = (tf_keras.losses.Reduction.SUM, tf_keras.losses.Reduction.NONE)


class CompiledLoss:
    """Losses of a model's outputs.

    Args:
      compiled: The arguments of `Model.compile`.
      names: The names of the model's outputs.

    Attributes:
      by_output: Loss objects by output name, for outputs that have a loss.

    Raises:
      ValueError: `loss` or `loss_weights` names an unknown output, or has a wrong length.
    """

    def __init__(self, compiled: CompileArguments, names: Names) -> None:
        given = names.spread(compiled.loss, "loss")
        self._weights = names.spread(compiled.loss_weights, "loss_weights")
        self.by_output = {
            name: _make_loss(loss) for name, loss in given.items() if loss is not None
        }

    def compute_total(
        self,
        outputs: Mapping[str, tf.Tensor],
        labels: Mapping[str, tf.Tensor],
        sample_weights: Mapping[str, tf.Tensor | None],
        extra: Sequence[tf.Tensor],
    ) -> tf.Tensor:
        """Returns the loss that training minimizes, a float scalar.

        Under a strategy it is the loss of one replica; the mean over replicas is the loss of the
        global batch.

        Args:
          outputs: The model's outputs by name.
          labels: Labels by output name.
          sample_weights: Sample weights by output name; None for an output without weights.
          extra: Losses of layers: regularization and `add_loss`.

        Raises:
          ValueError: There is no loss.
        """
        with tf.name_scope("loss"):
            terms = [
                self._compute_term(name, labels[name], outputs[name], sample_weights[name])
                for name in self.by_output
            ]
            terms += [tf.cast(tf.reduce_sum(loss), tf.float32) for loss in extra]
            if not terms:
                raise ValueError(
                    "The model cannot be compiled because it has no loss to optimize. Pass `loss` "
                    "to `model.compile()`, or use `add_loss` in the model."
                )
            return tf.add_n(terms)

    def _compute_term(
        self, name: str, label: tf.Tensor, output: tf.Tensor, sample_weight: tf.Tensor | None
    ) -> tf.Tensor:
        loss = self.by_output[name]
        with tf.name_scope(f"{name}_loss"):
            value = tf.reduce_sum(loss(label, output, sample_weight=sample_weight))
            if loss.reduction in _SUMS:
                # A sum over the batch is also a sum over the replicas.
                value *= tf.distribute.get_strategy().num_replicas_in_sync
        weight = self._weights[name]
        return tf.cast(value if weight is None else value * weight, tf.float32)


def divide_by_replicas(loss: tf.Tensor) -> tf.Tensor:
    """Divides the loss by the number of replicas: their sum is the loss of the global batch."""
    replicas = tf.distribute.get_strategy().num_replicas_in_sync
    return loss / replicas if replicas > 1 else loss


def _make_loss(given: "str | dict[str, Any] | Callable[..., Any] | Loss") -> Loss:
    """Returns a Loss object for a name, config, function or Loss."""
    loss = tf_keras.losses.get(given)
    if isinstance(loss, tf_keras.losses.Loss):
        loss = copy.copy(loss)
    else:
        name = getattr(loss, "__name__", type(loss).__name__)
        loss = tf_keras.__internal__.losses.LossFunctionWrapper(loss, name=name)
    # As in Keras's own training loop: each replica computes its mean, and the loss is the mean of
    # these. Without this attribute a Loss object raises ValueError under a strategy.
    loss._allow_sum_over_batch_size = True
    return loss
