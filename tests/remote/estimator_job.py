"""A job in a directory of any file system: data, training, evaluation, restart, prediction, export.

Call it with the directory; it prints what it saw as JSON.
"""

import json
import sys

import tensorflow as tf

import estimator_train as est


def write_records(directory):
    tf.io.gfile.makedirs(f"{directory}/data")
    for part in range(2):
        with tf.io.TFRecordWriter(f"{directory}/data/{part}.tfrecord") as writer:
            for x in range(part, 40, 2):
                floats = {
                    name: tf.train.Feature(float_list=tf.train.FloatList(value=[value]))
                    for name, value in (("x", x / 40), ("y", x / 20))
                }
                example = tf.train.Example(features=tf.train.Features(feature=floats))
                writer.write(example.SerializeToString())


def read_records(directory):
    files = tf.data.Dataset.list_files(f"{directory}/data/*.tfrecord", shuffle=False)
    records = files.interleave(tf.data.TFRecordDataset, cycle_length=2, num_parallel_calls=2)
    columns = {name: tf.io.FixedLenFeature([1], tf.float32) for name in ("x", "y")}

    def split(batch):
        features = tf.io.parse_example(batch, columns)
        return features, features.pop("y")

    return records.repeat().batch(10).map(split)


def run(directory):
    write_records(directory)
    columns = [tf.feature_column.numeric_column("x")]
    config = est.RunConfig(
        tf_random_seed=1, save_checkpoints_steps=10, save_summary_steps=5, keep_checkpoint_max=2
    )

    def make_estimator():
        return est.LinearRegressor(columns, f"{directory}/model", config=config)

    def input_fn():
        return read_records(directory)

    make_estimator().train(input_fn, max_steps=20)
    restarted = make_estimator().train(input_fn, max_steps=40)
    evaluated = restarted.evaluate(input_fn, steps=4)
    predicted = next(iter(restarted.predict(input_fn)))
    spec = tf.feature_column.make_parse_example_spec(columns)
    receiver_fn = est.export.build_parsing_serving_input_receiver_fn(spec)
    exported = restarted.export_saved_model(f"{directory}/exports", receiver_fn).decode()
    warm = est.LinearRegressor(
        columns, f"{directory}/warm", config=config, warm_start_from=f"{directory}/model"
    )
    warm.train(input_fn, steps=1)
    events = {}
    for folder, _, names in tf.io.gfile.walk(f"{directory}/model"):
        for name in names:
            if "tfevents" in name:
                count = sum(1 for _ in tf.compat.v1.train.summary_iterator(f"{folder}/{name}"))
                events[folder[len(directory) :]] = events.get(folder[len(directory) :], 0) + count
    with tf.io.gfile.GFile(f"{directory}/model/history.jsonl") as file:
        history = [json.loads(line) for line in file]
    return {
        "history": [line["step"] for line in history if "loss" in line or "eval" in line],
        "checkpoint": tf.train.latest_checkpoint(f"{directory}/model")[len(directory) :],
        "all": sorted(tf.io.gfile.glob(f"{directory}/model/*.index")),
        "loss": float(evaluated["loss"]),
        "prediction": float(predicted["predictions"][0]),
        "export": exported,
        "signatures": sorted(tf.saved_model.load(exported).signatures),
        "events": events,
        "temporary": [
            f"{folder}/{name}"
            for folder, _, names in tf.io.gfile.walk(directory)
            for name in names
            if "tmp" in name or "temp" in name or ".part" in name
        ],
    }


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1])))
