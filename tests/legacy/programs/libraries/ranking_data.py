"""Ranking examples in TFRecords of ELWC, generated."""
import os

import numpy as np
import tensorflow as tf
from tensorflow_serving.apis import input_pb2

VOCABULARY = ["red", "green", "blue", "cat", "dog", "sun"]


def words(name):
    """The column of a feature of words."""
    sparse = tf.feature_column.categorical_column_with_vocabulary_list(name, VOCABULARY)
    return tf.feature_column.embedding_column(sparse, 4)


def example(**values):
    kinds = {str: "bytes_list", float: "float_list", int: "int64_list"}
    feature = {}
    for key, value in values.items():
        kind = type(value[0])
        if kind is str:
            f = tf.train.Feature(bytes_list=tf.train.BytesList(value=[v.encode() for v in value]))
        elif kind is float:
            f = tf.train.Feature(float_list=tf.train.FloatList(value=value))
        else:
            f = tf.train.Feature(int64_list=tf.train.Int64List(value=value))
        feature[key] = f
    return tf.train.Example(features=tf.train.Features(feature=feature))


def records(seed, queries=24):
    random = np.random.RandomState(seed)
    made = []
    for _ in range(queries):
        elwc = input_pb2.ExampleListWithContext()
        query = [VOCABULARY[i] for i in random.randint(0, 6, 2)]
        elwc.context.CopyFrom(example(query_tokens=query))
        for _ in range(random.randint(3, 7)):
            document = [VOCABULARY[i] for i in random.randint(0, 6, 3)]
            price = float(random.rand())
            relevance = len(set(query) & set(document)) + int(price > 0.5)
            elwc.examples.append(
                example(document_tokens=document, price=[price], relevance=[relevance])
            )
        made.append(elwc.SerializeToString())
    return made


def write(path, seed):
    with tf.io.TFRecordWriter(path) as writer:
        for record in records(seed):
            writer.write(record)
    return path


def directory():
    """Where to work, with the files train.tfrecords and test.tfrecords in it."""
    work = os.environ["WORK_DIR"]
    os.makedirs(work, exist_ok=True)
    write(work + "/train.tfrecords", 1)
    write(work + "/test.tfrecords", 2)
    return work
