"""Questions about how tf.contrib.slim reads examples from files."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from asking import main, question, signature
from draining import drained

slim = tf.contrib.slim
decoder = slim.tfexample_decoder
PICTURE = (np.arange(2 * 3 * 3) * 13 % 256).astype(np.uint8).reshape(2, 3, 3)


def feature(value):
    if isinstance(value[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=value))
    if isinstance(value[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=value))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=value))


def example(**features):
    named = {name.replace("__", "/"): feature(value) for name, value in features.items()}
    made = tf.train.Example(features=tf.train.Features(feature=named))
    return made.SerializeToString()


def encoded(function, picture=PICTURE):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(function(tf.constant(picture)))


def decoded(handlers, features, serialized, items=None):
    made = decoder.TFExampleDecoder(features, handlers)
    found = made.decode(serialized, items)
    names = sorted(made.list_items())
    shapes = [str(one.shape) for one in found]
    return {"found": found, "names": names, "shapes": shapes}


VARIABLE = tf.VarLenFeature
FIXED = tf.FixedLenFeature


@question
def own_provider():
    """A program derives its provider from a class below `slim/python`."""
    from tensorflow.contrib.slim.python.slim.data import data_provider  # noqa: PLC0415

    class Pairs(data_provider.DataProvider):
        def __init__(self):
            super().__init__({"a": tf.constant(1.5), "b": tf.constant([2, 3])}, 7)

    provider = Pairs()
    items = sorted(provider.list_items())
    both = provider.get(["b", "a"])
    return {"items": items, "b": both[0], "a": both[1], "count": provider.num_samples()}


@question
def signatures():
    names = "Tensor LookupTensor SparseTensor BoundingBox Image BackupHandler ItemHandler "
    names += "ItemHandlerCallback TFExampleDecoder"
    found = {name: signature(getattr(decoder, name)) for name in names.split()}
    for module in (slim.parallel_reader, slim.prefetch_queue, slim.dataset):
        for name in ("parallel_read", "single_pass_read", "prefetch_queue", "Dataset"):
            if hasattr(module, name):
                found[name] = signature(getattr(module, name))
    found["DatasetDataProvider"] = signature(slim.dataset_data_provider.DatasetDataProvider)
    return found


@question
def tensors():
    features = {"a": VARIABLE(tf.float32), "b": FIXED([2], tf.int64), "c": FIXED([], tf.string)}
    handlers = {
        "a": decoder.Tensor("a"),
        "b": decoder.Tensor("b"),
        "c": decoder.Tensor("c"),
        "row": decoder.Tensor("a", shape=[1, 3]),
    }
    serialized = example(a=[1.0, 2.0, 3.0], b=[4, 5], c=[b"six"])
    return decoded(handlers, features, serialized, ["row", "c", "a", "b"])


@question
def all_items():
    features = {"a": FIXED([], tf.int64)}
    return decoded({"x": decoder.Tensor("a")}, features, example(a=[3]))


@question
def tensors_by_their_shape():
    features = {"a": VARIABLE(tf.int64), "shape": FIXED([2], tf.int64)}
    features.update({"high": FIXED([], tf.int64), "wide": FIXED([], tf.int64)})
    handlers = {
        "one": decoder.Tensor("a", shape_keys="shape"),
        "two": decoder.Tensor("a", shape_keys=["high", "wide"]),
    }
    serialized = example(a=[1, 2, 3, 4, 5, 6], shape=[2, 3], high=[3], wide=[2])
    return decoded(handlers, features, serialized, ["one", "two"])


@question
def two_shapes():
    return {"made": repr(decoder.Tensor("a", shape_keys="b", shape=[1]))}


@question
def missing_values():
    features = {"a": VARIABLE(tf.int64), "b": FIXED([2], tf.int64, default_value=[7, 8])}
    handlers = {"a": decoder.Tensor("a"), "b": decoder.Tensor("b")}
    return decoded(handlers, features, example(c=[1]), ["a", "b"])


@question
def words_of_a_table():
    features = {"words": VARIABLE(tf.string)}
    table = tf.contrib.lookup.index_table_from_tensor(["x", "y"], default_value=9)
    handlers = {"ids": decoder.LookupTensor("words", table)}
    return decoded(handlers, features, example(words=[b"y", b"z", b"x"]))


@question
def sparse():
    features = {"i": VARIABLE(tf.int64), "v": VARIABLE(tf.float32), "n": FIXED([1], tf.int64)}
    serialized = example(i=[1, 3], v=[0.5, 1.5], n=[5])
    handlers = {
        "by_shape": decoder.SparseTensor("i", "v", shape=[6], densify=True),
        "by_key": decoder.SparseTensor("i", "v", shape_key="n", densify=True, default_value=-1),
        "as_it_is": decoder.SparseTensor("i", "v", shape=[6]),
    }
    return decoded(handlers, features, serialized, ["by_shape", "by_key", "as_it_is"])


@question
def boxes():
    keys = ["ymin", "xmin", "ymax", "xmax"]
    features = {"box/" + key: VARIABLE(tf.float32) for key in keys}
    values = {"box__" + key: [i + 0.0, i + 0.5] for i, key in enumerate(keys)}
    handlers = {
        "boxes": decoder.BoundingBox(prefix="box/"),
        "turned": decoder.BoundingBox(["xmin", "ymin", "xmax", "ymax"], "box/"),
    }
    return decoded(handlers, features, example(**values), ["boxes", "turned"])


@question
def a_box_of_three():
    return {"made": repr(decoder.BoundingBox(["a", "b", "c"]))}


def pictures(bytes_, format_, handler, items=None, **features):
    kinds = {"image/encoded": FIXED([], tf.string), "image/format": FIXED([], tf.string)}
    serialized = example(image__encoded=[bytes_], image__format=[format_])
    return decoded({"image": handler}, kinds, serialized)


@question
def picture_of_png():
    return pictures(encoded(tf.image.encode_png), b"png", decoder.Image())


@question
def picture_of_a_shape():
    return pictures(encoded(tf.image.encode_png), b"PNG", decoder.Image(shape=[2, 3, 3]))


@question
def picture_of_one_channel():
    grey = encoded(tf.image.encode_png, PICTURE[:, :, :1])
    return pictures(grey, b"png", decoder.Image(channels=1))


@question
def picture_as_it_is():
    image = decoder.Image(shape=[2, 3, 3], dtype=tf.uint8)
    return pictures(PICTURE.tobytes(), b"raw", image)


@question
def picture_as_it_is_of_floats():
    floats = PICTURE.astype(np.float32) / 3
    return pictures(floats.tobytes(), b"RAW", decoder.Image(shape=[2, 3, 3], dtype=tf.float32))


@question
def picture_of_many_bits():
    deep = encoded(tf.image.encode_png, PICTURE.astype(np.uint16) * 200)
    return pictures(deep, b"png", decoder.Image(dtype=tf.uint16))


@question
def picture_of_jpeg():
    flat = encoded(tf.image.encode_jpeg, np.full([8, 8, 3], 77, np.uint8))
    return pictures(flat, b"jpeg", decoder.Image(shape=[8, 8, 3], dct_method="INTEGER_ACCURATE"))


@question
def pictures_of_one_example():
    png = encoded(tf.image.encode_png)
    other = encoded(tf.image.encode_png, 255 - PICTURE)
    kinds = {"i": VARIABLE(tf.string), "f": FIXED([], tf.string, default_value="png")}
    kinds["i"] = FIXED([2], tf.string)
    handlers = {"images": decoder.Image("i", "f", repeated=True)}
    return decoded(handlers, kinds, example(i=[png, other]))


@question
def backups():
    features = {"a": VARIABLE(tf.int64), "b": VARIABLE(tf.int64)}
    handler = decoder.BackupHandler(decoder.Tensor("a"), decoder.Tensor("b"))
    first = decoder.TFExampleDecoder(features, {"x": handler}).decode(example(a=[1], b=[2, 3]))
    second = decoder.TFExampleDecoder(features, {"x": handler}).decode(example(b=[2, 3]))
    return {"first": first, "second": second, "keys": sorted(handler.keys)}


@question
def backup_of_no_handler():
    return {"made": repr(decoder.BackupHandler(decoder.Tensor("a"), "b"))}


@question
def own_handlers():
    def both(tensors):
        return tensors["a"] + 10 * tensors["b"]

    features = {"a": FIXED([], tf.int64), "b": FIXED([], tf.int64)}
    handler = decoder.ItemHandlerCallback(["a", "b"], both)
    return decoded({"x": handler}, features, example(a=[1], b=[2]))


@question
def keys_of_handlers():
    keys = [decoder.ItemHandlerCallback("a", None).keys, decoder.Tensor("b", ["c", "d"]).keys]
    keys += [decoder.Image().keys, decoder.SparseTensor().keys, decoder.BoundingBox().keys]
    return {"keys": [sorted(some) for some in map(list, keys)][:1], "all": repr(list(keys[0]))}


def folder_of(**files):
    folder = tempfile.mkdtemp()
    for name, records in files.items():
        with tf.io.TFRecordWriter(os.path.join(folder, name)) as writer:
            for record in records:
                writer.write(record)
    return folder


def names_of(paths):
    return [os.path.basename(path) for path in paths]


@question
def files_of_patterns():
    folder = folder_of(a1=[], a2=[], b=[])
    get = slim.parallel_reader.get_data_files
    sources = [os.path.join(folder, "a?"), os.path.join(folder, "b"), os.path.join(folder, "none")]
    return {
        "pattern": sorted(names_of(get(sources[0]))),
        "several": sorted(names_of(get(sources))),
        "tuple": names_of(get((sources[1], [sources[2]]))),
    }


@question
def files_of_no_pattern():
    folder = folder_of(a=[])
    return {"files": slim.parallel_reader.get_data_files(os.path.join(folder, "x*"))}


@question
def one_pass():
    folder = folder_of(a=[b"1", b"2"], b=[b"3"])
    files = [os.path.join(folder, name) for name in "ab"]
    _, value = slim.parallel_reader.single_pass_read(files, tf.TFRecordReader)
    seen, end = drained(value, 3)
    return {"seen": seen, "end": end}


@question
def several_readers():
    folder = folder_of(a=[b"1", b"2"], b=[b"3"])
    read = slim.parallel_reader.parallel_read
    arguments = {"num_epochs": 2, "num_readers": 2, "min_after_dequeue": 1, "capacity": 8}
    _, value = read(os.path.join(folder, "*"), tf.TFRecordReader, **arguments)
    seen, end = drained(value, 6)
    return {"seen": sorted(seen), "end": end}


def dataset_of(folder):
    features = {"a": FIXED([], tf.int64), "b": VARIABLE(tf.float32)}
    handlers = {"a": decoder.Tensor("a"), "b": decoder.Tensor("b")}
    return slim.dataset.Dataset(
        data_sources=[os.path.join(folder, "a")],
        reader=tf.TFRecordReader,
        decoder=decoder.TFExampleDecoder(features, handlers),
        num_samples=2,
        items_to_descriptions={"a": "A number."},
        num_classes=10,
    )


@question
def provider_of_a_dataset():
    folder = folder_of(a=[example(a=[1], b=[0.5]), example(a=[2], b=[1.5, 2.5])])
    dataset = dataset_of(folder)
    provider = slim.dataset_data_provider.DatasetDataProvider(dataset, shuffle=False, num_epochs=1)
    number, row = provider.get(["a", "b"])
    seen, end = drained([number, row], 2)
    return {
        "numbers": [int(one[0]) for one in seen],
        "rows": repr([one[1].tolist() for one in seen]),
        "end": end,
        "items": sorted(provider.list_items()),
        "samples": [provider.num_samples(), dataset.num_classes],
    }


@question
def item_that_is_not_there():
    folder = folder_of(a=[example(a=[1])])
    provider = slim.dataset_data_provider.DatasetDataProvider(dataset_of(folder))
    return {"x": provider.get(["a", "x"])}


@question
def prefetched():
    number = tf.train.range_input_producer(3, num_epochs=1, shuffle=False).dequeue()
    queue = slim.prefetch_queue.prefetch_queue({"n": number, "twice": 2 * number}, capacity=2)
    seen, end = drained(queue.dequeue(), 3)
    return {"seen": [[int(one["n"]), int(one["twice"])] for one in seen], "end": end}


@question
def queues_of_a_session():
    number = tf.train.range_input_producer(3, shuffle=False).dequeue()
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        with slim.queues.QueueRunners(session):
            return {"seen": [int(session.run(number)) for _ in range(4)]}


if __name__ == "__main__":
    main()
