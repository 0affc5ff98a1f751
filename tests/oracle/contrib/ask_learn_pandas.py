"""Questions about the functions of tf.contrib.learn that take data frames of pandas."""

import numpy as np
import pandas as pd
import tensorflow as tf
from asking import main, question
from trying import tried

learn = tf.contrib.learn


def described(function, data):
    def call():
        found = function(data)
        return [type(found).__name__, str(getattr(found, "dtype", "")), np.array(found).tolist()]

    return tried(call)


def frame():
    return pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "c": [True, False]})


def words():
    return pd.DataFrame({"s": ["x"], "u": [1]})


@question
def data():
    given = [frame(), frame().a, np.ones(2), words(), frame()[["c"]], [1]]
    return {str(i): described(learn.extract_pandas_data, one) for i, one in enumerate(given)}


@question
def data_of_words():
    return {"data": learn.extract_pandas_data(pd.DataFrame({"s": ["x"], "t": ["y"], "u": [1]}))}


@question
def labels():
    given = [frame()[["a"]], frame()[["c"]], frame().b, frame(), words()[["s"]], words().s, [1]]
    return {str(i): described(learn.extract_pandas_labels, one) for i, one in enumerate(given)}


@question
def labels_of_words():
    return {"labels": learn.extract_pandas_labels(words()[["s"]])}


@question
def matrix_of_other_data():
    given = [frame().a, [3], np.ones(2)]
    return {str(i): described(learn.extract_pandas_matrix, one) for i, one in enumerate(given)}


if __name__ == "__main__":
    main()
