"""Questions about the summaries of tf.contrib.slim."""

import tensorflow as tf
from asking import main, question, signature
from trying import tried

v1 = tf.compat.v1
summaries = tf.contrib.slim.summaries
NAMES = [name for name in dir(summaries) if name.startswith("add_")]


def shown():
    """Returns the values of all summaries of the default graph, and its printing operations."""
    graph = v1.get_default_graph()
    with v1.Session() as session:
        merged = session.run(v1.summary.merge_all())
    values = v1.Summary.FromString(merged).value
    printing = [op.name for op in graph.get_operations() if op.type in ("Print", "PrintV2")]
    found = [[value.tag, value.WhichOneof("value"), value.simple_value] for value in values]
    return repr([sorted(found), printing])


def tensors():
    return [tf.constant([1.0, 0.0, 3.0], name="first"), tf.constant([0.0, 2.0], name="second")]


@question
def signatures():
    return {name: signature(getattr(summaries, name)) for name in NAMES}


@question
def single():
    first, second = tensors()
    mean = tf.reduce_mean(first, name="mean")
    summaries.add_scalar_summary(mean)
    summaries.add_scalar_summary(mean, name="named")
    summaries.add_scalar_summary(mean, name="named", prefix="before")
    summaries.add_scalar_summary(mean, prefix="prefixed")
    summaries.add_histogram_summary(second)
    summaries.add_histogram_summary(second, name="counts", prefix="p")
    summaries.add_zero_fraction_summary(first)
    summaries.add_zero_fraction_summary(first, name="zeros", prefix="p")
    return {"shown": shown()}


@question
def several():
    first, second = tensors()
    means = [tf.reduce_mean(first, name="mean"), tf.reduce_mean(second, name="other")]
    kinds = [type(one).__name__ for one in (
        summaries.add_scalar_summaries(means, prefix="p"),
        summaries.add_histogram_summaries([first, second]),
        summaries.add_zero_fraction_summaries([first, second], prefix="z"),
    )]  # fmt: skip
    return {"kinds": kinds, "shown": shown()}


@question
def pictures():
    picture = tf.zeros([2, 3, 3, 1], name="picture")
    summaries.add_image_summary(picture)
    summaries.add_image_summary(picture, name="one", prefix="p")
    summaries.add_image_summaries([picture, picture + 1], prefix="q")
    return {"shown": shown()}


@question
def printed():
    mean = tf.constant(2.0, name="mean")
    summaries.add_scalar_summary(mean, print_summary=True)
    summaries.add_scalar_summary(mean, "again", "p", print_summary=True)
    return {"shown": shown()}


@question
def repeated():
    mean = tf.constant(2.0, name="mean")
    summaries.add_scalar_summary(mean)
    summaries.add_scalar_summary(mean)
    return {"shown": shown()}


@question
def wrong():
    return {"vector": tried(summaries.add_scalar_summary, tf.constant([1.0, 2.0]))}


if __name__ == "__main__":
    main()
