"""Questions about the queues of tf.contrib.training that bucket and sample examples."""

import tensorflow as tf
from asking import main, question
from trying import tried

training = tf.contrib.training


def read(count=20):
    """Returns the numbers from 0, one each time."""
    return tf.train.input_producer(tf.range(count), num_epochs=1, shuffle=False).dequeue()


def plain(value):
    if isinstance(value, dict):
        return sorted((key, plain(one)) for key, one in value.items())
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value.tolist() if hasattr(value, "tolist") else value


def all_batches(fetched):
    """Returns the texts of all batches, sorted: the threads of buckets have no order."""
    found = []
    with tf.train.MonitoredSession() as session:
        while not session.should_stop():
            found.append(repr(plain(session.run(fetched))))
    return sorted(found)


def shape_of(fetched):
    flat = tf.contrib.framework.nest.flatten(fetched)
    return [[one.op.name, one.dtype.name, repr(one.shape.as_list())] for one in flat]


def bucketed(tensors=lambda x: [x, tf.as_string(x)], batch_size=3, **named):
    number = read()
    return training.bucket(tensors(number), number % 2, batch_size, 2, **named)


def asked(fetched):
    kinds = sorted(one.op.name for one in tf.get_collection(tf.GraphKeys.SUMMARIES))
    return {
        "shapes": shape_of(fetched),
        "kind": type(fetched[1]).__name__.replace("EagerTensor", "Tensor"),
        "summaries": kinds,
        "batches": all_batches(fetched),
    }


@question
def two_buckets():
    return asked(bucketed())


@question
def smaller_last_batches():
    return asked(bucketed(allow_smaller_final_batch=True))


@question
def names_and_capacities():
    return asked(bucketed(name="own", shared_name="mine", capacity=7, bucket_capacities=[5, 6]))


@question
def a_size_for_each_bucket():
    return asked(bucketed(batch_size=[2, 4]))


@question
def examples_that_are_kept():
    number = read()
    kept = tf.less(number % 5, 3)
    return asked(training.bucket([number, -number], number % 2, 2, 2, keep_input=kept))


@question
def keeping_always():
    return asked(bucketed(keep_input=1))


@question
def a_dict():
    return asked(bucketed(lambda x: {"b": x, "a": -x}))


@question
def one_tensor():
    fetched = bucketed(lambda x: [x])
    return {"shapes": shape_of(fetched), "batches": all_batches(fetched)}


@question
def padded():
    return asked(bucketed(lambda x: [x, tf.fill([x], x)], dynamic_pad=True))


@question
def given_shapes():
    return asked(bucketed(lambda x: [tf.placeholder_with_default(x, None), x], shapes=[[], []]))


@question
def wrong_buckets():
    number = read()
    unknown = tf.placeholder_with_default(number, None)
    calls = [
        lambda: training.bucket([], 0, 2, 2),
        lambda: training.bucket([number], 0, [2], 2),
        lambda: training.bucket([number], 0, 2, 2, bucket_capacities=[1]),
        lambda: training.bucket([number], 0, 2, 2, keep_input=[True, False]),
        lambda: training.bucket([unknown], 0, 2, 2),
        lambda: training.bucket([number], tf.constant(1, tf.int64), 2, 2),
    ]
    return {str(index): tried(call) for index, call in enumerate(calls)}


def sequences(tensors=lambda x: [x, tf.fill([x], x)], batch_size=2, bounds=(5, 10), **named):
    length = read()
    named = dict({"dynamic_pad": True}, **named)
    return training.bucket_by_sequence_length(
        length, tensors(length), batch_size, list(bounds), **named
    )


@question
def by_length():
    return asked(sequences())


@question
def by_length_to_the_end():
    return asked(sequences(batch_size=[2, 3, 4], allow_smaller_final_batch=True))


@question
def by_length_in_a_dict():
    return asked(sequences(lambda x: {"b": x, "a": tf.fill([x], x)}, name="own"))


@question
def by_length_of_one_tensor():
    return asked(sequences(lambda x: [tf.fill([x], 7)], bounds=(3,)))


@question
def by_length_with_shapes():
    return asked(sequences(shapes=[[], [None]]))


@question
def by_length_of_sparse_tensors():
    def tensors(x):
        return [tf.SparseTensor(tf.zeros([1, 1], tf.int64), [x], [9])]

    length, [sparse] = sequences(tensors)
    parts = [length, sparse.indices, sparse.values, sparse.dense_shape]
    return {"kind": type(sparse).__name__, "batches": all_batches(parts)}


@question
def wrong_lengths():
    number = read()

    def by(bounds, length=number, **named):
        named = dict({"batch_size": 2}, **named)
        training.bucket_by_sequence_length(length, [number], bucket_boundaries=bounds, **named)

    calls = [
        lambda: by([]),
        lambda: by([5, 3]),
        lambda: by([5, 5]),
        lambda: by([5.0, 7.0]),
        lambda: by(tf.constant([5, 7])),
        lambda: by([5, 7], batch_size=[2, 3]),
        lambda: by([5, 7], bucket_capacities=[2, 3]),
        lambda: by([5, 7], length=tf.constant(1, tf.int64)),
    ]
    return {str(index): tried(call) for index, call in enumerate(calls)}


@question
def rejected():
    number = read()
    fetched = training.rejection_sample(
        [number, number + 1], lambda parts: tf.where(parts[0] % 2 < 1, 1.0, 0.0), 3
    )
    return {"shapes": shape_of(fetched), "batches": all_batches(fetched)}


@question
def rejected_many():
    number = read()
    fetched = training.rejection_sample(
        [[number, -number], [number, number]],
        lambda parts: tf.where(parts[0] % 4 < 1, 1.0, 0.0),
        3,
        enqueue_many=True,
        runtime_checks=True,
        name="own",
    )
    return {"shapes": shape_of(fetched), "batches": all_batches(fetched)}


@question
def rejected_by_a_wrong_probability():
    fetched = training.rejection_sample(
        [read()], lambda parts: 1.5 + tf.cast(parts[0], tf.float32), 3, runtime_checks=True
    )
    return {"found": tried(all_batches, fetched)}


@question
def rejected_at_random():
    # 4000 examples of which 30 % are accepted.
    fetched = training.rejection_sample([read(4000)], lambda _: tf.constant(0.3), 20)
    share = 20 * len(all_batches(fetched)) / 4000.0
    return {"near": abs(share - 0.3) < 0.05}


@question
def one_class_of_two():
    number = read()
    fetched = training.stratified_sample(
        [number, -number], number % 2, [0.0, 1.0], 2, init_probs=[0.5, 0.5], queue_capacity=20
    )
    return {"shapes": shape_of(fetched), "batches": all_batches(fetched)}


@question
def classes_of_many_examples():
    number = read()
    fetched = training.stratified_sample(
        [[number, -number]],
        [number % 2, number % 2],
        [1.0, 0.0],
        2,
        init_probs=[0.5, 0.5],
        enqueue_many=True,
        name="own",
    )
    return {"shapes": shape_of(fetched), "batches": all_batches(fetched)}


def share_of_ones(**named):
    number = read(6000)
    # A quarter of the examples is of class 1, in no order that the two queues could share.
    label = tf.cast(tf.random_uniform([], seed=1) < 0.25, tf.int32)
    _, labels = training.stratified_sample([number], label, [0.5, 0.5], 10, **named)
    found = []
    with tf.train.MonitoredSession() as session:
        while not session.should_stop():
            found.extend(session.run(labels).tolist())
    return sum(found) / float(len(found))


@question
def shares_of_classes():
    share = share_of_ones(init_probs=[0.75, 0.25], threads_per_queue=2)
    return {"near": abs(share - 0.5) < 0.08}


@question
def estimated_shares_of_classes():
    share = share_of_ones()
    return {"near": abs(share - 0.5) < 0.08}


@question
def wrong_classes():
    number = tf.range(3)

    def sample(**named):
        named = dict({"target_probs": [0.2, 0.3, 0.5], "labels": number}, **named)
        fetched = training.stratified_sample([number], batch_size=1, enqueue_many=True, **named)
        return tf.train.MonitoredSession().run(fetched) and None

    calls = [
        lambda: sample(target_probs=[0.5, 0.5, 0.5]),
        lambda: sample(init_probs=[0.0, 0.5, 0.5]),
        lambda: sample(init_probs=[0.5, 0.5]),
        lambda: sample(init_probs=[0.5, 0.4, 0.3]),
        lambda: sample(labels=[0, 1]),
    ]
    found = {}
    for index, call in enumerate(calls):
        with tf.Graph().as_default():
            number = tf.range(3)
            found[str(index)] = tried(call)
    return found


def rows():
    return [tf.range(6), 10 * tf.range(6)]


@question
def resampled():
    first, second = training.resample_at_rate(rows(), [0.0, 1.0, 2.0, 3.0, 0.0, 1.0], seed=3)
    return [{"first": first, "second": second, "name": first.op.name}, {"first": first}]


@question
def resampled_by_weight():
    weights = tf.constant([0.0, 1.0, 2.0, 3.0, 0.0, 1.0])
    (first, second), rates = training.weighted_resample(rows(), weights, 1.5, seed=2)
    return [{"first": first, "second": second, "rates": rates}, {"first": first, "rates": rates}]


@question
def resampled_by_changing_weights():
    step = tf.Variable(0.0, trainable=False)
    weights = tf.constant([1.0, 1.0, 2.0, 3.0, 1.0, 1.0]) + tf.assign_add(step, 1.0)
    [first], rates = training.weighted_resample(
        [tf.range(6)], weights, 2.0, scope="own", mean_decay=0.5, seed=2
    )
    return [{"first": first, "rates": rates}] * 3


if __name__ == "__main__":
    main()
