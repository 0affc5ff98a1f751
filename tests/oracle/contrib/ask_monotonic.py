"""Questions about tf.contrib.seq2seq: monotonic attention, scheduled outputs, trees of beams."""

import numpy as np
import tensorflow as tf
from asking import main, numbers, question, signature

seq2seq = tf.contrib.seq2seq
MODES = ("recursive", "parallel", "hard")


def memory(depth=4):
    return tf.constant(numbers(3, 5, depth, scale=2))


def scored(kind, units=4, **options):
    """Keys, values and two answers of an attention mechanism."""
    mechanism = kind(units, memory(), **options)
    query = tf.constant(numbers(3, 4, start=3))
    state = mechanism.initial_state(3, tf.float32)
    first, state = mechanism(query, state)
    second, last = mechanism(query + 1, state)
    return {
        "keys": mechanism.keys,
        "values": mechanism.values,
        "initial": mechanism.initial_alignments(3, tf.float32),
        "first": first,
        "second": second,
        "last": last,
        "size": mechanism.alignments_size,
    }


@question
def arguments():
    names = (
        "BahdanauMonotonicAttention LuongMonotonicAttention monotonic_attention safe_cumprod "
        "ScheduledOutputTrainingHelper gather_tree"
    )
    found = [(name, getattr(seq2seq, name)) for name in names.split()]
    return {n: signature(one.__init__ if isinstance(one, type) else one) for n, one in found}


@question
def functions():
    chosen = abs(numbers(2, 4, start=1)) * 1.5
    before = [[1.0, 0.0, 0.0, 0.0], [0.2, 0.3, 0.4, 0.1]]
    hard = (chosen > 0.3).astype(np.float32), np.eye(4, dtype=np.float32)[[0, 2]]
    found = {mode: seq2seq.monotonic_attention(chosen, before, mode) for mode in MODES[:2]}
    return dict(found, hard=seq2seq.monotonic_attention(*hard, mode="hard"))


@question
def function_of_another_mode():
    return {"found": seq2seq.monotonic_attention(numbers(1, 2), numbers(1, 2), "soft")}


@question
def products():
    x = tf.constant([[0.5, 0.25, 2.0], [0.0, 1.0, 0.5]])
    return {
        "rows": seq2seq.safe_cumprod(x, axis=1),
        "without_own": seq2seq.safe_cumprod(x, axis=1, exclusive=True),
        "columns": seq2seq.safe_cumprod(x, reverse=True),
    }


@question
def bahdanau():
    return scored(seq2seq.BahdanauMonotonicAttention, memory_sequence_length=[5, 2, 1])


@question
def bahdanau_normalized():
    kind = seq2seq.BahdanauMonotonicAttention
    return scored(kind, normalize=True, score_bias_init=-0.5, mode="recursive")


@question
def bahdanau_hard():
    return scored(seq2seq.BahdanauMonotonicAttention, mode="hard", score_mask_value=-3.0)


@question
def luong():
    return scored(seq2seq.LuongMonotonicAttention, memory_sequence_length=[5, 2, 1])


@question
def luong_scaled():
    return scored(seq2seq.LuongMonotonicAttention, scale=True, mode="hard", score_bias_init=0.3)


@question
def luong_with_noise():
    options = {"sigmoid_noise": 1.0, "sigmoid_noise_seed": 3}
    mechanism = seq2seq.LuongMonotonicAttention(4, memory(), **options)
    quiet = seq2seq.LuongMonotonicAttention(4, memory())
    query, state = tf.constant(numbers(3, 4)), mechanism.initial_state(3, tf.float32)
    with tf.variable_scope("one"):
        found = mechanism(query, state)[0]
    with tf.variable_scope("two"):
        without = quiet(query, state)[0]
    return {"noisy": tf.reduce_any(abs(found - without) > 1e-3), "size": str(found.shape)}


@question
def luong_in_a_wrapper():
    mechanism = seq2seq.LuongMonotonicAttention(4, memory())
    wrapper = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), mechanism, 3)
    inputs = tf.constant(numbers(3, 3, 2, start=9))
    outputs, state = tf.nn.dynamic_rnn(wrapper, inputs, dtype=tf.float32)
    return {"outputs": outputs, "alignments": state.alignments, "attention": state.attention}


def decoded(probability, **options):
    inputs = tf.constant(numbers(3, 4, 3))
    helper = seq2seq.ScheduledOutputTrainingHelper(inputs, [4, 2, 3], probability, **options)
    cell = tf.nn.rnn_cell.GRUCell(3)
    decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(3, tf.float32))
    found, state, lengths = seq2seq.dynamic_decode(decoder)
    return {
        "outputs": found.rnn_output,
        "samples": found.sample_id,
        "state": state,
        "lengths": lengths,
        "dtype": helper.sample_ids_dtype.name,
        "shape": str(helper.sample_ids_shape),
    }


@question
def scheduled_outputs_never():
    return decoded(0.0)


@question
def scheduled_outputs_always():
    return decoded(1.0)


@question
def scheduled_outputs_by_a_function():
    return decoded(1.0, next_inputs_fn=lambda outputs: outputs * 2, seed=4)


@question
def scheduled_outputs_with_more_inputs():
    helper = seq2seq.ScheduledOutputTrainingHelper(
        tf.constant(numbers(3, 4, 3)),
        [4, 2, 3],
        1.0,
        auxiliary_inputs=tf.constant(numbers(3, 4, 2, start=5)),
    )
    finished, first = helper.initialize()
    outputs = tf.constant(numbers(3, 3, start=20))
    found = {"finished": finished, "first": first}
    samples = tf.constant([True, False, True])
    found["next"] = helper.next_inputs(tf.constant(1), outputs, outputs, samples)[:2]
    return found


@question
def scheduled_outputs_with_inputs_of_several_kinds():
    try:
        return decoded(1.0, auxiliary_inputs=(tf.zeros([3, 4, 1]), tf.zeros([3, 4, 2])))
    except (TypeError, ValueError) as error:
        return {"error": type(error).__name__}


@question
def trees():
    steps = tf.constant([[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]], [[1, 1, 1]]])
    parents = tf.constant([[[0, 0, 0]], [[0, 1, 1]], [[2, 1, 2]], [[-1, -1, -1]]])
    return {"all": seq2seq.gather_tree(steps, parents, [3], end_token=10)}


if __name__ == "__main__":
    main()
