"""Questions about tf.contrib.seq2seq: attention and the loss."""

import numpy as np
import tensorflow as tf
from asking import main, numbers, question, signature

seq2seq = tf.contrib.seq2seq
LENGTHS = [5, 2, 1]
KINDS = {"bahdanau": seq2seq.BahdanauAttention, "luong": seq2seq.LuongAttention}


def memory(depth=4):
    return tf.constant(numbers(3, 5, depth, scale=2))


def inputs(time=3):
    return tf.constant(numbers(3, time, 2, start=9))


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
        "batch": mechanism.batch_size,
    }


def attended(cell=None, mechanism=None, time=3, unit=None, **options):
    """Outputs and state of a cell with attention over three steps."""
    mechanism = mechanism or seq2seq.LuongAttention(4, memory(), LENGTHS)
    wrapper = seq2seq.AttentionWrapper(cell or tf.nn.rnn_cell.GRUCell(4), mechanism, **options)
    state = wrapper.zero_state(3, tf.float32)
    outputs = []
    with tf.variable_scope("steps") as scope:
        for step in tf.unstack(inputs(time), axis=1):
            output, state = wrapper(step, state)
            outputs.append(output)
            scope.reuse_variables()
    found = {"outputs": outputs, "size": str(wrapper.output_size), "cell": state.cell_state}
    found.update(attention=state.attention, time=state.time, alignments=state.alignments)
    if options.get("alignment_history"):
        history = state.alignment_history
        several = isinstance(history, tuple)
        found["history"] = [h.stack() for h in history] if several else history.stack()
    return found


@question
def arguments():
    names = (
        "AttentionWrapper",
        "BahdanauAttention",
        "LuongAttention",
        "hardmax",
        "sequence_loss",
        "tile_batch",
    )
    return {name: signature(of_class(getattr(seq2seq, name))) for name in names}


def of_class(called):
    return called.__init__ if isinstance(called, type) else called


@question
def bahdanau():
    return scored(seq2seq.BahdanauAttention)


@question
def bahdanau_normalized():
    return scored(seq2seq.BahdanauAttention, normalize=True)


@question
def bahdanau_of_lengths():
    return scored(seq2seq.BahdanauAttention, memory_sequence_length=tf.constant(LENGTHS))


@question
def bahdanau_of_other_units():
    options = {"score_mask_value": -3.0, "name": "mine", "normalize": True}
    return scored(seq2seq.BahdanauAttention, 6, memory_sequence_length=LENGTHS, **options)


@question
def luong():
    return scored(seq2seq.LuongAttention)


@question
def luong_scaled():
    return scored(seq2seq.LuongAttention, scale=True)


@question
def luong_of_lengths():
    lengths = tf.constant(LENGTHS, tf.int64)
    return scored(seq2seq.LuongAttention, memory_sequence_length=lengths, scale=True, name="mine")


@question
def luong_with_a_probability_function():
    lengths = {"memory_sequence_length": LENGTHS, "score_mask_value": 0.0}
    return scored(seq2seq.LuongAttention, probability_fn=tf.nn.sigmoid, **lengths)


@question
def luong_with_hardmax():
    return scored(seq2seq.LuongAttention, probability_fn=seq2seq.hardmax)


@question
def luong_of_other_units():
    return scored(seq2seq.LuongAttention, 6)


@question
def mechanisms_of_empty_sequences():
    return scored(seq2seq.LuongAttention, memory_sequence_length=[5, 0, 1])


@question
def two_mechanisms():
    return [scored(seq2seq.LuongAttention), scored(seq2seq.LuongAttention)]


@question
def mechanism_in_a_scope():
    with tf.variable_scope("decoder"):
        return scored(seq2seq.BahdanauAttention, 3)


@question
def mechanism_of_memory_in_half_precision():
    mechanism = seq2seq.LuongAttention(4, tf.cast(memory(), tf.float64), dtype=tf.float64)
    shares, _ = mechanism(tf.constant(numbers(3, 4), tf.float64), None)
    return {"shares": shares, "type": shares.dtype.name}


@question
def wrapper():
    return attended()


@question
def wrapper_of_bahdanau():
    mechanism = seq2seq.BahdanauAttention(3, memory(), LENGTHS, normalize=True)
    return attended(tf.nn.rnn_cell.BasicLSTMCell(6), mechanism, attention_layer_size=5)


@question
def wrapper_with_layer():
    return attended(attention_layer_size=5)


@question
def wrapper_with_history():
    return attended(alignment_history=True, attention_layer_size=3)


@question
def wrapper_with_the_cells_output():
    return attended(attention_layer_size=3, output_attention=False, name="mine")


@question
def wrapper_with_own_input():
    return attended(cell_input_fn=lambda inputs, attention: inputs + attention[:, :2])


@question
def wrapper_with_a_first_state():
    return attended(initial_cell_state=tf.constant(numbers(3, 4)))


@question
def wrapper_with_a_given_layer():
    layer = tf.layers.Dense(5, tf.nn.tanh, name="given")
    return attended(attention_layer=layer)


@question
def wrapper_with_a_layer_and_a_size():
    layer = tf.layers.Dense(5, tf.nn.tanh, name="given")
    return attended(attention_layer=layer, attention_layer_size=5)


@question
def wrapper_with_an_attention_function():
    def attend(mechanism, output, state, layer):
        shares, following = mechanism(output, state)
        context = tf.squeeze(tf.matmul(tf.expand_dims(shares, 1), mechanism.values), 1)
        return 2 * context, shares, following

    return attended(attention_fn=attend)


@question
def wrapper_of_two_mechanisms():
    first = seq2seq.LuongAttention(4, memory(), LENGTHS)
    second = seq2seq.BahdanauAttention(3, memory(2), name="other")
    options = {"attention_layer_size": [3, 2], "alignment_history": True}
    return attended(mechanism=[first, second], **options)


@question
def wrapper_of_two_mechanisms_without_layers():
    first = seq2seq.LuongAttention(4, memory(), LENGTHS)
    second = seq2seq.BahdanauAttention(3, memory(2), name="other")
    return attended(mechanism=[first, second])


@question
def wrapper_of_layers():
    cells = [tf.nn.rnn_cell.GRUCell(3), tf.nn.rnn_cell.BasicLSTMCell(4)]
    return attended(tf.nn.rnn_cell.MultiRNNCell(cells), attention_layer_size=3)


@question
def wrapper_state():
    mechanism = seq2seq.LuongAttention(4, memory())
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), mechanism, 3)
    state = cell.zero_state(3, tf.float32).clone(cell_state=tf.constant(numbers(3, 4)))
    sizes = cell.state_size
    said = [str(part) for part in (sizes.cell_state, sizes.attention, sizes.alignments)]
    output, _ = cell(inputs()[:, 0], state)
    return {"output": output, "sizes": said, "cell": state.cell_state, "time": state.time}


@question
def wrapper_state_of_another_shape():
    mechanism = seq2seq.LuongAttention(4, memory())
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), mechanism, 3)
    state = cell.zero_state(3, tf.float32)
    return {"state": state.clone(cell_state=tf.zeros([2, 4])).cell_state}


@question
def wrapper_of_another_batch():
    mechanism = seq2seq.LuongAttention(4, memory())
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), mechanism, 3)
    return {"time": cell.zero_state(2, tf.float32).time}


@question
def wrapper_of_no_mechanism():
    return {"cell": str(seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), "mechanism"))}


@question
def wrapper_of_too_few_layers():
    mechanisms = [seq2seq.LuongAttention(4, memory())] * 2
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), mechanisms, [3])
    return {"cell": str(cell.output_size)}


@question
def wrapper_in_dynamic_rnn():
    mechanism = seq2seq.BahdanauAttention(4, memory(), LENGTHS)
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), mechanism, 3)
    outputs, state = tf.nn.dynamic_rnn(cell, inputs(), sequence_length=[3, 1, 2], dtype=tf.float32)
    return {"outputs": outputs, "attention": state.attention, "time": state.time}


def logits():
    return tf.constant(numbers(2, 3, 4, scale=2))


def targets():
    return tf.constant([[1, 0, 3], [2, 2, 1]])


WEIGHTS = np.array([[1, 1, 0.5], [1, 0, 0]], np.float32)


@question
def losses():
    return {
        str((i, j)): seq2seq.sequence_loss(logits(), targets(), tf.constant(WEIGHTS), i, j)
        for i in (True, False)
        for j in (True, False)
    }


@question
def summed_losses():
    found = {}
    for over_time in (True, False):
        for over_batch in (True, False):
            found[str((over_time, over_batch))] = seq2seq.sequence_loss(
                logits(),
                targets(),
                tf.constant(WEIGHTS),
                average_across_timesteps=False,
                average_across_batch=False,
                sum_over_timesteps=over_time,
                sum_over_batch=over_batch,
            )
    return found


@question
def loss_both_summed_and_averaged():
    return {
        "loss": seq2seq.sequence_loss(
            logits(), targets(), tf.constant(WEIGHTS), sum_over_timesteps=True
        )
    }


@question
def loss_averaged_over_time_and_summed_over_the_batch():
    return {
        "loss": seq2seq.sequence_loss(
            logits(),
            targets(),
            tf.constant(WEIGHTS),
            average_across_batch=False,
            sum_over_batch=True,
        )
    }


@question
def loss_without_weight():
    return {"loss": seq2seq.sequence_loss(logits(), targets(), tf.zeros([2, 3]))}


@question
def loss_of_another_function():
    def squares(labels, logits):
        return (tf.cast(labels, tf.float32) - tf.reduce_sum(logits, -1)) ** 2

    weights = tf.constant(WEIGHTS)
    return {
        "loss": seq2seq.sequence_loss(logits(), targets(), weights, softmax_loss_function=squares)
    }


@question
def loss_of_flat_logits():
    return {"loss": seq2seq.sequence_loss(tf.zeros([6, 4]), targets(), tf.constant(WEIGHTS))}


@question
def loss_of_flat_targets():
    return {"loss": seq2seq.sequence_loss(logits(), targets()[0], tf.constant(WEIGHTS))}


@question
def loss_of_flat_weights():
    return {"loss": seq2seq.sequence_loss(logits(), targets(), tf.constant(WEIGHTS[0]))}


@question
def loss_gradient():
    x = logits()
    loss = seq2seq.sequence_loss(x, targets(), tf.constant(WEIGHTS))
    return {"gradient": tf.gradients(loss, x)[0]}


@question
def hardest():
    return {"x": seq2seq.hardmax(tf.constant([[1.0, 3.0, 3.0], [2.0, 0.0, -1.0]]))}


@question
def tiles():
    structure = {"a": tf.constant(numbers(2, 3)), "b": (tf.constant([1, 2]),)}
    tiled = seq2seq.tile_batch(structure, 2)
    return {"a": tiled["a"], "b": tiled["b"][0], "shape": str(tiled["a"].shape)}


@question
def tiles_of_a_number():
    return {"x": seq2seq.tile_batch(tf.constant(1.0), 2)}


if __name__ == "__main__":
    main()
