"""Questions about tf.contrib.crf: lengths of 0 and 1 among them."""

import numpy as np
import tensorflow as tf
from asking import differs, main, numbers, question, signature

crf = tf.contrib.crf
TAGS = [[0, 1, 2, 1], [2, 2, 0, 1], [1, 0, 0, 0], [2, 1, 0, 2], [0, 2, 1, 1]]
LENGTHS = [4, 2, 1, 0, 3]


def unary(time=4):
    return tf.constant(numbers(5, time, 3, scale=2))


def transitions():
    return tf.constant(numbers(3, 3, start=4, scale=2))


def tags(time=4):
    return tf.constant(np.array(TAGS, np.int32)[:, :time])


def lengths(time=4, dtype=np.int32):
    return tf.constant(np.minimum(np.array(LENGTHS, dtype), time))


@question
def arguments():
    names = (
        "crf_unary_score",
        "crf_binary_score",
        "crf_sequence_score",
        "crf_multitag_sequence_score",
        "crf_log_norm",
        "crf_log_likelihood",
        "crf_decode",
        "viterbi_decode",
    )
    return {name: signature(getattr(crf, name)) for name in names}


@question
def unary_score():
    return {"score": crf.crf_unary_score(tags(), lengths(), unary())}


@question
def unary_score_of_one_step():
    return {"score": crf.crf_unary_score(tags(1), lengths(1), unary(1))}


@question
def binary_score():
    return {"score": crf.crf_binary_score(tags(), lengths(), transitions())}


@question
def binary_score_of_one_step():
    return {"score": crf.crf_binary_score(tags(1), lengths(1), transitions())}


@question
def sequence_score():
    return {"score": crf.crf_sequence_score(unary(), tags(), lengths(), transitions())}


@question
def sequence_score_of_one_step():
    return {"score": crf.crf_sequence_score(unary(1), tags(1), lengths(1), transitions())}


@question
def sequence_score_of_long_integers():
    long = tf.cast(tags(), tf.int64), lengths(dtype=np.int64)
    return {"score": crf.crf_sequence_score(unary(), long[0], long[1], transitions())}


@question
def multitag_score():
    bitmap = tf.constant(numbers(5, 4, 3, start=2) > -0.3)
    args = (unary(), bitmap, lengths(), transitions())
    return {"score": crf.crf_multitag_sequence_score(*args)}


@question
def multitag_score_of_one_step():
    bitmap = tf.constant(numbers(5, 1, 3, start=2) > -0.3)
    args = (unary(1), bitmap, tf.constant([1] * 5), transitions())
    return {"score": crf.crf_multitag_sequence_score(*args)}


@differs("the original takes an empty sequence for one of length 1, where there is one step")
@question
def multitag_score_of_one_empty_step():
    args = (unary(1), tf.ones([5, 1, 3], tf.bool), lengths(1), transitions())
    return {"score": crf.crf_multitag_sequence_score(*args)}


@question
def log_norm():
    return {"norm": crf.crf_log_norm(unary(), lengths(), transitions())}


@question
def log_norm_of_one_step():
    return {"norm": crf.crf_log_norm(unary(1), lengths(1), transitions())}


@question
def log_norm_of_long_lengths():
    return {"norm": crf.crf_log_norm(unary(), lengths(dtype=np.int64), transitions())}


@question
def log_likelihood_makes_transitions():
    likelihood, made = crf.crf_log_likelihood(unary(), tags(), lengths())
    return {"likelihood": likelihood, "transitions": made}


@question
def log_likelihood():
    likelihood, same = crf.crf_log_likelihood(unary(), tags(), lengths(), transitions())
    return {"likelihood": likelihood, "transitions": same}


@question
def log_likelihood_of_one_step():
    likelihood, _ = crf.crf_log_likelihood(unary(1), tags(1), lengths(1), transitions())
    return {"likelihood": likelihood}


@question
def log_likelihood_of_shapes_not_known():
    inputs = tf.placeholder_with_default(unary(), [None, None, 3])
    some_tags = tf.placeholder_with_default(tags(), [None, None])
    likelihood, made = crf.crf_log_likelihood(inputs, some_tags, lengths())
    gradients = tf.gradients(-tf.reduce_mean(likelihood), [inputs, made])
    return {"likelihood": likelihood, "inputs": gradients[0], "transitions": gradients[1]}


@question
def log_likelihood_in_a_scope_reused():
    with tf.variable_scope("crf"):
        first, _ = crf.crf_log_likelihood(unary(), tags(), lengths())
    with tf.variable_scope("crf", reuse=True):
        second, _ = crf.crf_log_likelihood(unary(2), tags(2), lengths(2))
    return {"first": first, "second": second}


@question
def gradients():
    inputs, pairs = unary(), transitions()
    likelihood, _ = crf.crf_log_likelihood(inputs, tags(), lengths(), pairs)
    of_inputs, of_pairs = tf.gradients(likelihood, [inputs, pairs])
    return {"inputs": of_inputs, "transitions": of_pairs}


@question
def decode():
    best, score = crf.crf_decode(unary(), transitions(), lengths())
    return {"tags": best, "score": score, "types": [best.dtype.name, score.dtype.name]}


@question
def decode_of_one_step():
    best, score = crf.crf_decode(unary(1), transitions(), lengths(1))
    return {"tags": best, "score": score, "types": [best.dtype.name, score.dtype.name]}


@question
def decode_of_full_length():
    best, score = crf.crf_decode(unary(), transitions(), tf.constant([4] * 5))
    return {"tags": best, "score": score}


@question
def decode_of_long_lengths():
    best, score = crf.crf_decode(unary(), transitions(), lengths(dtype=np.int64))
    return {"tags": best, "score": score}


@question
def decode_of_shapes_not_known():
    inputs = tf.placeholder_with_default(unary(), [None, None, 3])
    best, score = crf.crf_decode(inputs, transitions(), lengths())
    return {"tags": best, "score": score}


@question
def decode_of_one_step_not_known():
    inputs = tf.placeholder_with_default(unary(1), [None, None, 3])
    best, score = crf.crf_decode(inputs, transitions(), lengths(1))
    return {"tags": best, "score": score}


@question
def decode_of_equals():
    best, score = crf.crf_decode(tf.zeros([2, 3, 3]), tf.zeros([3, 3]), tf.constant([3, 2]))
    return {"tags": best, "score": score}


@question
def decode_with_a_variable():
    pairs = tf.get_variable("transitions", [3, 3])
    best, score = crf.crf_decode(unary(), pairs, lengths())
    return {"tags": best, "score": score}


@question
def shapes():
    inputs = tf.placeholder(tf.float32, [5, 4, 3])
    likelihood, made = crf.crf_log_likelihood(inputs, tags(), lengths())
    best, score = crf.crf_decode(inputs, made, lengths())
    return {"shapes": [str(t.shape) for t in (likelihood, made, best, score)]}


@question
def viterbi():
    best, score = crf.viterbi_decode(numbers(4, 3, scale=2), numbers(3, 3, start=4, scale=2))
    return {"tags": list(map(int, best)), "type": type(best).__name__, "score": float(score)}


@question
def viterbi_of_one_step():
    best, score = crf.viterbi_decode(numbers(1, 3), numbers(3, 3, start=4))
    return {"tags": list(map(int, best)), "score": float(score)}


@question
def viterbi_of_no_step():
    best, score = crf.viterbi_decode(numbers(0, 3), numbers(3, 3, start=4))
    return {"tags": list(map(int, best)), "score": float(score)}


@question
def viterbi_of_equals():
    best, score = crf.viterbi_decode(np.zeros([3, 3]), np.zeros([3, 3]))
    return {"tags": list(map(int, best)), "score": float(score)}


if __name__ == "__main__":
    main()
