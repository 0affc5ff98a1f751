"""Loop functions, and the choice between given and fed symbols."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tf_contrib._types import Nest

_v1 = tf.compat.v1
Outputs = tuple[list[tf.Tensor], Nest]
# Takes the output of a step and the number of the next step; returns the next input.
Loop = Callable[[tf.Tensor, int], tf.Tensor]
Projection = tuple[tf.Tensor, tf.Tensor]


def make_loop(embedding: tf.Tensor, projection: Projection | None, updates: bool) -> Loop:
    """Returns a loop function that embeds the likeliest symbol of the step before.

    Args:
      embedding: The embeddings of the symbols.
      projection: Weights and bias from an output to the logits of symbols.
      updates: Whether gradients reach the embeddings of those symbols.
    """

    def feed(previous: tf.Tensor, number: int) -> tf.Tensor:
        del number
        logits = previous
        if projection is not None:
            weights, bias = projection
            logits = previous @ weights + bias
        found = tf.nn.embedding_lookup(embedding, tf.argmax(logits, 1))
        return found if updates else tf.stop_gradient(found)

    return feed


def decode_by_choice(feed_previous: Any, decode: Callable[[bool], Outputs]) -> Outputs:
    """Decodes with fed or given symbols, by a bool or by a tensor, which each run computes.

    Args:
      feed_previous: The choice.
      decode: Decodes; its argument is whether to feed.
    """
    if isinstance(feed_previous, bool):
        return decode(feed_previous)

    def decode_to_list(feeds: bool) -> list[tf.Tensor]:
        # The first branch makes the variables, and the second one uses them again.
        reuse = None if feeds else True
        with _v1.variable_scope(_v1.get_variable_scope(), reuse=reuse):
            outputs, state = decode(feeds)
            structures.append((len(outputs), state))
            return [*outputs, *tf.nest.flatten(state)]

    structures: list[tuple[int, Nest]] = []
    found = _v1.cond(feed_previous, lambda: decode_to_list(True), lambda: decode_to_list(False))
    count, state = structures[0]
    return list(found[:count]), tf.nest.pack_sequence_as(state, found[count:])
