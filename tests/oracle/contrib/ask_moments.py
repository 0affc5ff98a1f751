"""Questions about the moment, and so the scope, in which layers and decoders create variables."""

import tensorflow as tf
from asking import main, question
from trying import tried

seq2seq, rnn, contrib_layers = tf.contrib.seq2seq, tf.contrib.rnn, tf.contrib.layers


def names():
    return repr([variable.op.name for variable in tf.compat.v1.global_variables()])


def embed(ids):
    """Embeds tokens with a variable of the current scope."""
    with tf.compat.v1.variable_scope("words", reuse=tf.compat.v1.AUTO_REUSE):
        table = tf.compat.v1.get_variable("table", [6, 3])
    return tf.nn.embedding_lookup(table, ids)


def embed_once(ids):
    """Embeds tokens with a variable that exists after the first call, like a Keras layer."""
    return tf.nn.embedding_lookup(tf.compat.v1.get_variable("once", [6, 3]), ids)


def in_stages(*stages):
    """Calls functions one after the other, each with the last result, and lists variables."""
    found, value = {}, None
    for stage in stages:
        value = stage(value)
        found.update({str(len(found)): names()})
    return found


def scoped(name, function):
    def call(value):
        with tf.compat.v1.variable_scope(name):
            return function(value)

    return call


def decode(decoder):
    return seq2seq.dynamic_decode(decoder, maximum_iterations=2)


def make_cell():
    return tf.compat.v1.nn.rnn_cell.GRUCell(4)


STARTS = [1, 1]


@question
def beam_search():
    cell = make_cell()
    state = tf.zeros([4, 4])
    output = tf.compat.v1.layers.Dense(6, use_bias=False, name="out")
    return in_stages(
        scoped(
            "outer",
            lambda _: seq2seq.BeamSearchDecoder(cell, embed, STARTS, 2, state, 2, output),
        ),
        scoped("inner", decode),
    )


@question
def beam_search_with_variables_of_one_use():
    def build():
        return seq2seq.BeamSearchDecoder(make_cell(), embed_once, STARTS, 2, tf.zeros([4, 4]), 2)

    return {
        "first": tried(lambda: build() and names()),
        "second": tried(lambda: build() and names()),
    }


@question
def shapes_of_embedded_tokens():
    found = []

    def note(ids):
        found.append(ids.shape.as_list())
        return embed(ids)

    decode(seq2seq.BeamSearchDecoder(make_cell(), note, STARTS, 2, tf.zeros([4, 4]), 2))
    helper = seq2seq.GreedyEmbeddingHelper(note, STARTS, 2)
    decode(seq2seq.BasicDecoder(make_cell(), helper, tf.zeros([2, 4])))
    return {"shapes": repr(found)}


@question
def greedy_helper():
    def build(_):
        helper = seq2seq.GreedyEmbeddingHelper(embed, STARTS, 2)
        return seq2seq.BasicDecoder(
            make_cell(), helper, tf.zeros([2, 4]), tf.compat.v1.layers.Dense(6, name="out")
        )

    return in_stages(scoped("outer", build), scoped("inner", decode))


@question
def sample_helper():
    def build(_):
        helper = seq2seq.SampleEmbeddingHelper(embed, STARTS, 2, seed=3)
        return seq2seq.BasicDecoder(make_cell(), helper, tf.zeros([2, 4]))

    return in_stages(scoped("outer", build))


@question
def scheduled_helper():
    def build(_):
        helper = seq2seq.ScheduledEmbeddingTrainingHelper(
            tf.ones([2, 3, 3]), [3, 2], embed, 0.5, seed=1, scheduling_seed=2
        )
        return seq2seq.BasicDecoder(
            make_cell(), helper, tf.zeros([2, 4]), tf.compat.v1.layers.Dense(6, name="out")
        )

    return in_stages(scoped("outer", build), scoped("inner", decode))


def attention_stages(make):
    memory = tf.ones([2, 3, 5])

    def wrap(mechanism):
        return seq2seq.AttentionWrapper(make_cell(), mechanism, attention_layer_size=3)

    def build(wrapped):
        helper = seq2seq.TrainingHelper(tf.ones([2, 2, 3]), [2, 2])
        state = wrapped.zero_state(2, tf.float32)
        return seq2seq.BasicDecoder(wrapped, helper, state)

    return in_stages(
        scoped("memory", lambda _: make(memory)),
        scoped("wrapper", wrap),
        scoped("decoder", build),
        scoped("loop", decode),
    )


@question
def bahdanau():
    return attention_stages(lambda memory: seq2seq.BahdanauAttention(4, memory, [3, 2]))


@question
def normed_bahdanau():
    return attention_stages(
        lambda memory: seq2seq.BahdanauAttention(4, memory, [3, 2], normalize=True)
    )


@question
def luong():
    return attention_stages(lambda memory: seq2seq.LuongAttention(4, memory, [3, 2], scale=True))


@question
def cells():
    made = [
        rnn.LayerNormBasicLSTMCell(3),
        rnn.LSTMBlockCell(3),
        rnn.GRUBlockCellV2(3),
    ]
    found = {"made": names()}
    for index, cell in enumerate(made):
        with tf.compat.v1.variable_scope(f"cell{index}"):
            state = cell.zero_state(2, tf.float32)
            found[f"zero{index}"] = names()
            cell(tf.ones([2, 4]), state)
            found[f"called{index}"] = names()
    return found


@question
def bidirectional_stack():
    forward = [rnn.GRUCell(3), rnn.GRUCell(2)]
    backward = [rnn.GRUCell(3), rnn.GRUCell(2)]
    return in_stages(
        scoped(
            "stack",
            lambda _: rnn.stack_bidirectional_dynamic_rnn(
                forward, backward, tf.ones([2, 3, 4]), dtype=tf.float32
            ),
        )
    )


@question
def crf():
    scores, tags = tf.ones([2, 3, 4]), tf.ones([2, 3], tf.int32)
    lengths = tf.constant([3, 2])
    return in_stages(
        scoped("one", lambda _: tf.contrib.crf.crf_log_likelihood(scores, tags, lengths)),
        scoped("two", lambda _: tf.contrib.crf.crf_log_likelihood(scores, tags, lengths)),
    )


@question
def layers():
    x = tf.ones([2, 5])

    def twice(_):
        contrib_layers.fully_connected(x, 3, normalizer_fn=contrib_layers.batch_norm)
        contrib_layers.fully_connected(x, 3)
        contrib_layers.layer_norm(x)
        return contrib_layers.embed_sequence([[1, 2]], 4, 3)

    return in_stages(scoped("a", twice), scoped("b", twice))


if __name__ == "__main__":
    main()
