"""The loss of a compiled Keras model for a batch in a graph."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_train.keras.compiled.compile_arguments import CompileArguments
from estimator_train.keras.graph.io_names import Names

_SUMS = (tf_keras.losses.Reduction.SUM, tf_keras.losses.Reduction.NONE)


class CompiledLoss:
    """The losses of a model's outputs, as given to `compile`.

    Args:
      compiled: What the model was compiled with.
      names: The names of the model's outputs.

    Attributes:
      by_output: Loss objects by output name, for outputs that have a loss.

    Raises:
      ValueError: `loss` or `loss_weights` names an unknown output, or has a wrong length.
    """

    def __init__(self, compiled: CompileArguments, names: Names) -> None:
        given = names.spread(compiled.loss, "loss")
        self._weights = names.spread(compiled.loss_weights, "loss_weights")
        self.by_output = {name: _loss(loss) for name, loss in given.items() if loss is not None}

    def total(
        self,
        outputs: Mapping[str, tf.Tensor],
        labels: Mapping[str, Any],
        sample_weights: Mapping[str, Any],
        extra: Sequence[tf.Tensor],
    ) -> tf.Tensor:
        """Returns the loss that training minimizes, a float scalar.

        Under a strategy it is one replica's: the replicas' mean is the loss of the global batch.

        Args:
          outputs: The model's outputs by name.
          labels: Labels by output name.
          sample_weights: Sample weights by output name, None where there are none.
          extra: Losses of layers: regularization and what `add_loss` added.

        Raises:
          ValueError: There is no loss at all.
        """
        with tf.name_scope("loss"):
            terms = [
                self._term(name, labels[name], outputs[name], sample_weights[name])
                for name in self.by_output
            ]
            terms += [tf.cast(tf.reduce_sum(loss), tf.float32) for loss in extra]
            if not terms:
                raise ValueError(
                    "The model cannot be compiled because it has no loss to optimize. Pass `loss` "
                    "to `model.compile()`, or use `add_loss` in the model."
                )
            return tf.add_n(terms)

    def _term(self, name: str, label: Any, output: tf.Tensor, sample_weight: Any) -> tf.Tensor:
        loss = self.by_output[name]
        with tf.name_scope(f"{name}_loss"):
            value = tf.reduce_sum(loss(label, output, sample_weight=sample_weight))
            if loss.reduction in _SUMS:
                # What is summed over a batch is summed over the replicas too.
                value *= tf.distribute.get_strategy().num_replicas_in_sync
        weight = self._weights[name]
        return tf.cast(value if weight is None else value * weight, tf.float32)


def _loss(given: Any) -> Any:
    """A Loss object for a name, function, config or Loss."""
    loss = tf_keras.losses.get(given)
    if isinstance(loss, tf_keras.losses.Loss):
        loss = copy.copy(loss)
    else:
        name = getattr(loss, "__name__", type(loss).__name__)
        loss = tf_keras.__internal__.losses.LossFunctionWrapper(loss, name=name)
    # Keras's own training loop says so too: the mean is one replica's, and the replicas' mean is
    # taken of that. Without it a Loss object refuses to work under a strategy.
    loss._allow_sum_over_batch_size = True
    return loss
