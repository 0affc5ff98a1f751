"""Questions about tf.contrib.feature_column."""

import tensorflow as tf
from asking import main, question

columns = tf.contrib.feature_column


def sparse(*values):
    return tf.SparseTensor([[0, 0], [0, 1], [2, 0]], list(values), [3, 2])


@question
def numbers_in_sequences():
    column = columns.sequence_numeric_column("x", shape=[1], default_value=-1.0)
    return layer({"x": sparse(1.0, 2.0, 3.0)}, column)


@question
def words_as_indicators():
    column = columns.sequence_categorical_column_with_vocabulary_list("x", ["a", "b"])
    return layer({"x": sparse("b", "a", "c")}, tf.feature_column.indicator_column(column))


@question
def identities_embedded():
    column = columns.sequence_categorical_column_with_identity("x", num_buckets=3)
    return layer({"x": sparse(2, 0, 1)}, tf.feature_column.embedding_column(column, 2))


@question
def several_columns():
    x = columns.sequence_numeric_column("x")
    y = columns.sequence_categorical_column_with_identity("y", num_buckets=2)
    features = {"x": sparse(1.0, 2.0, 3.0), "y": sparse(1, 0, 1)}
    return layer(features, tf.feature_column.indicator_column(y), x)


def layer(features, *chosen):
    values, lengths = columns.sequence_input_layer(features, list(chosen))
    return {"values": values, "lengths": lengths}


if __name__ == "__main__":
    main()
