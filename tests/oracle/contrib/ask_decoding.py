"""Questions about tf.contrib.seq2seq: decoders, helpers and beam search."""

import tensorflow as tf
from asking import main, numbers, question, signature

seq2seq = tf.contrib.seq2seq
LENGTHS = [4, 2, 3]


def of_class(called):
    return called.__init__ if isinstance(called, type) else called


@question
def arguments():
    names = (
        "BasicDecoder",
        "BeamSearchDecoder",
        "CustomHelper",
        "GreedyEmbeddingHelper",
        "InferenceHelper",
        "SampleEmbeddingHelper",
        "ScheduledEmbeddingTrainingHelper",
        "TrainingHelper",
    )
    return {name: signature(of_class(getattr(seq2seq, name))) for name in names}


@question
def fields():
    names = ("AttentionWrapperState", "BasicDecoderOutput", "BeamSearchDecoderOutput")
    names += ("BeamSearchDecoderState", "FinalBeamSearchDecoderOutput")
    return {name: list(getattr(seq2seq, name)._fields) for name in names}


def inputs(batch_first=True):
    x = tf.constant(numbers(3, 4, 2, start=9, scale=2))
    return x if batch_first else tf.transpose(x, [1, 0, 2])


def embedding(words=6):
    return tf.constant(numbers(words, 2, start=3, scale=2))


def decoded(helper, layer=None, cell=None, state=None, **options):
    cell = cell or tf.nn.rnn_cell.GRUCell(4)
    state = cell.zero_state(3, tf.float32) if state is None else state
    decoder = seq2seq.BasicDecoder(cell, helper, state, layer)
    outputs, state, lengths = seq2seq.dynamic_decode(decoder, **options)
    found = {"outputs": outputs, "lengths": lengths}
    found["shapes"] = [str(outputs.rnn_output.shape), str(outputs.sample_id.shape)]
    found["kind"] = type(outputs).__name__
    found["state"] = state.cell_state if hasattr(state, "cell_state") else state
    return found


def training(**options):
    return seq2seq.TrainingHelper(inputs(), LENGTHS, **options)


def greedy(end=2, words=6):
    return seq2seq.GreedyEmbeddingHelper(embedding(words), tf.constant([1, 0, 3]), end)


def words(count=6, **options):
    return tf.layers.Dense(count, name="words", **options)


class TwoOutputs(tf.nn.rnn_cell.RNNCell):
    """A cell whose outputs are the state and half of it."""

    state_size = 4

    def __init__(self, wrap):
        super().__init__()
        self._wrap = wrap

    @property
    def output_size(self):
        return self._wrap(4, 2)

    def call(self, inputs, state):
        state = tf.tanh(state + tf.reduce_sum(inputs, 1, keepdims=True))
        return self._wrap(state, state[:, :2]), state


class Sums(seq2seq.Helper):
    """Feeds the sums of the first output of the step before, three times."""

    batch_size = 3
    sample_ids_shape = tf.TensorShape([])
    sample_ids_dtype = tf.int32

    def initialize(self, name=None):
        return tf.fill([3], False), tf.constant(numbers(3, 2))

    def sample(self, time, outputs, state, name=None):
        return tf.fill([3], time)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        return tf.fill([3], time >= 2), tf.nest.flatten(outputs)[0][:, :2], state


def of_several_outputs(wrap, **options):
    cell = TwoOutputs(wrap)
    decoder = seq2seq.BasicDecoder(cell, Sums(), cell.zero_state(3, tf.float32))
    outputs, state, lengths = seq2seq.dynamic_decode(decoder, **options)
    flat = tf.nest.flatten(outputs.rnn_output)
    return {
        "size": repr(decoder.output_size.rnn_output),
        "types": repr(decoder.output_dtype.rnn_output),
        "kind": type(outputs.rnn_output).__name__,
        "outputs": flat,
        "ranks": [len(one.shape) for one in flat],
        "state": state,
        "lengths": lengths,
    }


@question
def cell_with_a_tuple_of_outputs():
    return of_several_outputs(lambda one, two: (one, two))


@question
def cell_with_a_dict_of_outputs_imputed():
    return of_several_outputs(lambda one, two: {"a": one, "b": two}, impute_finished=True)


@question
def cell_with_nested_outputs_time_first():
    return of_several_outputs(lambda one, two: [one, (two,)], output_time_major=True)


@question
def trained():
    return decoded(training())


@question
def trained_and_imputed():
    return decoded(training(), words(), impute_finished=True)


@question
def trained_with_time_first():
    helper = seq2seq.TrainingHelper(inputs(False), LENGTHS, time_major=True)
    return decoded(helper, words(), output_time_major=True)


@question
def trained_of_fewer_steps():
    return decoded(training(), maximum_iterations=2)


@question
def trained_of_steps_by_a_tensor():
    return decoded(training(), words(use_bias=False), maximum_iterations=tf.constant(3))


@question
def trained_with_empty_sequences():
    helper = seq2seq.TrainingHelper(inputs(), [0, 2, 3])
    return decoded(helper, impute_finished=True)


@question
def trained_in_a_scope():
    return decoded(training(), scope="mine")


@question
def trained_with_lstm():
    return decoded(training(), cell=tf.nn.rnn_cell.BasicLSTMCell(3), impute_finished=True)


@question
def helper_parts():
    helper = training()
    finished, first = helper.initialize()
    sampled = helper.sample(tf.constant(0), tf.constant(numbers(3, 5)), None)
    parts = {"finished": finished, "first": first, "sampled": sampled}
    for t in (0, 2, 3):
        ended, following, _ = helper.next_inputs(
            time=tf.constant(t), outputs=None, state=(), sample_ids=sampled
        )
        parts["ended " + str(t)] = ended
        parts["next " + str(t)] = following
    parts["said"] = [str(helper.sample_ids_shape), helper.sample_ids_dtype.name]
    return dict(parts, batch=helper.batch_size)


@question
def helper_of_flat_lengths():
    return {"batch": seq2seq.TrainingHelper(inputs(), 3).batch_size}


@question
def greedy_search():
    return decoded(greedy(), words(), maximum_iterations=5)


@question
def greedy_search_imputed():
    return decoded(greedy(5), words(), maximum_iterations=6, impute_finished=True)


@question
def greedy_search_of_a_function():
    def embed(ids):
        return tf.one_hot(ids, 6)

    helper = seq2seq.GreedyEmbeddingHelper(embed, tf.constant([1, 0, 3]), tf.constant(4))
    return decoded(helper, words(), maximum_iterations=5)


@question
def greedy_search_of_wrong_starts():
    return {"x": seq2seq.GreedyEmbeddingHelper(embedding(), tf.constant(1), 2).batch_size}


@question
def greedy_search_of_wrong_end():
    return {"x": seq2seq.GreedyEmbeddingHelper(embedding(), tf.constant([1]), [2]).batch_size}


@question
def greedy_search_with_a_variable():
    vectors = tf.get_variable("vectors", [6, 2])
    helper = seq2seq.GreedyEmbeddingHelper(vectors, tf.fill([3], 1), 5)
    return decoded(helper, words(), maximum_iterations=4)


@question
def trained_and_greedy_share_variables():
    cell, layer = tf.nn.rnn_cell.GRUCell(4), words()
    with tf.variable_scope("decode"):
        first = decoded(training(), layer, cell)
    with tf.variable_scope("decode", reuse=True):
        second = decoded(greedy(), layer, cell, maximum_iterations=3)
    return [first, second]


@question
def sampling_of_certainty():
    layer = words(kernel_initializer=tf.zeros_initializer())
    helper = seq2seq.SampleEmbeddingHelper(
        embedding(), tf.constant([1, 0, 3]), 2, softmax_temperature=1e-5, seed=1
    )
    return decoded(helper, layer, maximum_iterations=4)


@question
def own_helper():
    x = inputs(False)

    def begin():
        return tf.fill([3], False), x[0]

    def sample(time, outputs, state):
        return tf.cast(tf.argmin(outputs, -1), tf.int32)

    def following(time, outputs, state, sample_ids):
        return tf.equal(time + 1, [4, 1, 3]), x[tf.minimum(time + 1, 3)], state

    return decoded(seq2seq.CustomHelper(begin, sample, following))


@question
def inference():
    helper = seq2seq.InferenceHelper(
        sample_fn=tf.tanh,
        sample_shape=[2],
        sample_dtype=tf.float32,
        start_inputs=tf.constant(numbers(3, 2)),
        end_fn=lambda sampled: tf.reduce_sum(sampled, -1) > 1.5,
    )
    return decoded(helper, words(2), maximum_iterations=4)


@question
def scheduled_never():
    helper = seq2seq.ScheduledEmbeddingTrainingHelper(inputs(), LENGTHS, embedding(), 0.0)
    return decoded(helper, words())


@question
def attention_in_decoding():
    memory = tf.constant(numbers(3, 5, 4, scale=2))
    mechanism = seq2seq.LuongAttention(4, memory, [5, 2, 1])
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), mechanism, 4, alignment_history=True)
    first = cell.zero_state(3, tf.float32).clone(cell_state=tf.constant(numbers(3, 4)))
    decoder = seq2seq.BasicDecoder(cell, training(), first, words())
    outputs, state, lengths = seq2seq.dynamic_decode(decoder, impute_finished=True)
    history = state.alignment_history.stack()
    return {"outputs": outputs, "history": history, "lengths": lengths, "time": state.time}


@question
def decoder_of_no_kind():
    return {"x": seq2seq.dynamic_decode("decoder")}


@question
def decoder_with_a_helper_of_no_kind():
    cell = tf.nn.rnn_cell.GRUCell(4)
    decoder = seq2seq.BasicDecoder(cell, "helper", cell.zero_state(3, tf.float32))
    return {"x": seq2seq.dynamic_decode(decoder)}


@question
def decoder_of_a_wrong_count_of_steps():
    return decoded(training(), maximum_iterations=[3])


@question
def decoder_says():
    cell = tf.nn.rnn_cell.GRUCell(4)
    decoder = seq2seq.BasicDecoder(cell, training(), cell.zero_state(3, tf.float32), words())
    size, dtype = decoder.output_size, decoder.output_dtype
    said = [str(part) for part in (size.rnn_output, size.sample_id)]
    said += [part.name for part in (dtype.rnn_output, dtype.sample_id)]
    return {"said": said, "own": decoder.tracks_own_finished, "batch": decoder.batch_size}


def searched(width=3, cell=None, state=None, steps=5, words_count=6, end=2, starts=None, **options):
    cell = cell or tf.nn.rnn_cell.GRUCell(4)
    if state is None:
        state = seq2seq.tile_batch(tf.constant(numbers(2, 4, scale=2)), width)
    time_major = options.pop("output_time_major", False)
    decoder = seq2seq.BeamSearchDecoder(
        cell=cell,
        embedding=embedding(words_count),
        start_tokens=tf.constant([1, 0]) if starts is None else starts,
        end_token=end,
        initial_state=state,
        beam_width=width,
        output_layer=words(words_count),
        **options,
    )
    outputs, state, lengths = seq2seq.dynamic_decode(
        decoder, maximum_iterations=steps, output_time_major=time_major
    )
    found = {"ids": outputs.predicted_ids, "lengths": lengths}
    found["steps"] = outputs.beam_search_decoder_output
    found.update(scores=state.log_probs, finished=state.finished, own=state.lengths)
    cell_state = state.cell_state
    is_attention = hasattr(cell_state, "attention")
    found["cell"] = cell_state.cell_state if is_attention else cell_state
    if is_attention and not isinstance(cell_state.alignment_history, tuple):
        history = cell_state.alignment_history
        found["history"] = history.stack() if hasattr(history, "stack") else history
    return found


@question
def beams():
    return searched()


@question
def one_beam():
    return searched(1)


@question
def beams_with_penalty():
    return searched(length_penalty_weight=1.0)


@question
def beams_with_a_small_penalty():
    return searched(4, length_penalty_weight=0.6, steps=7, end=5)


@question
def beams_with_time_first():
    return searched(2, output_time_major=True)


@question
def beams_that_all_end():
    return searched(2, steps=12, words_count=3, end=0)


@question
def beams_of_another_end():
    return searched(3, end=5, steps=6)


@question
def beams_as_wide_as_words():
    return searched(4, words_count=4, end=1)


@question
def beams_of_lstm():
    state = tf.nn.rnn_cell.LSTMStateTuple(
        tf.constant(numbers(2, 4, scale=2)), tf.constant(numbers(2, 4, start=5))
    )
    return searched(2, cell=tf.nn.rnn_cell.BasicLSTMCell(4), state=seq2seq.tile_batch(state, 2))


def searched_with_attention(history=False, **options):
    """Batches of a size that is not known, as input functions give them."""
    shape = [None, 5, 4]
    memory = tf.placeholder_with_default(numbers(2, 5, 4, scale=2), shape)
    lengths = seq2seq.tile_batch(tf.constant([5, 2]), 2)
    mechanism = seq2seq.BahdanauAttention(4, seq2seq.tile_batch(memory, 2), lengths)
    cell = seq2seq.AttentionWrapper(
        tf.nn.rnn_cell.GRUCell(4), mechanism, 4, alignment_history=history
    )
    first = tf.placeholder_with_default(numbers(2, 4, scale=2), [None, 4])
    state = cell.zero_state(tf.shape(memory)[0] * 2, tf.float32)
    state = state.clone(cell_state=seq2seq.tile_batch(first, 2))
    starts = tf.placeholder_with_default([1, 0], [None])
    return searched(2, cell=cell, state=state, starts=starts, **options)


@question
def beams_with_attention():
    return searched_with_attention()


@question
def beams_with_attention_and_history():
    return searched_with_attention(history=True)


@question
def beams_with_attention_and_history_as_it_came():
    return searched_with_attention(history=True, reorder_tensor_arrays=False)


@question
def beams_of_a_state_not_tiled():
    return searched(3, state=tf.constant(numbers(2, 4)))


@question
def beam_decoder_says():
    cell = tf.nn.rnn_cell.GRUCell(4)
    state = seq2seq.tile_batch(tf.zeros([2, 4]), 3)
    decoder = seq2seq.BeamSearchDecoder(
        cell, embedding(), tf.constant([1, 0]), 2, state, 3, words()
    )
    size, dtype = decoder.output_size, decoder.output_dtype
    said = [str(part) for part in size] + [part.name for part in dtype]
    finished, first, begun = decoder.initialize()
    parts = {"said": said, "own": decoder.tracks_own_finished, "batch": decoder.batch_size}
    parts.update(finished=finished, first=first, scores=begun.log_probs, lengths=begun.lengths)
    return dict(parts, cell=begun.cell_state)


if __name__ == "__main__":
    main()
