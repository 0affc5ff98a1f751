"""A wide-and-deep model of a table. Training evaluates it and exports the best checkpoint.

    python examples/census_wide_deep.py runs/census

The generated rows resemble the census of 1994, the usual example for this kind of model. To read
a CSV file, replace `input_fns.arrays` by `input_fns.csv`.
"""

import sys

import numpy as np
import tensorflow as tf

import estimator_train as est
import input_fns

fc = tf.feature_column
JOBS = ["clerk", "farmer", "manager", "mechanic", "nurse", "teacher"]
SCHOOLS = ["none", "school", "college", "university"]


def make_people(count: int, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Returns the columns of a table, and whether each person earns more than 50,000 a year."""
    random = np.random.default_rng(seed)
    rows = {
        "age": random.integers(17, 80, count).astype(np.float32),
        "hours": random.integers(10, 60, count).astype(np.float32),
        "job": random.choice(JOBS, count),
        "school": random.choice(SCHOOLS, count),
    }
    score = (
        0.04 * rows["age"]
        + 0.05 * rows["hours"]
        + 1.5 * (rows["job"] == "manager")
        + 1.0 * (rows["school"] == "university")
        + random.normal(0, 0.5, count)
    )
    return rows, (score > 4.5).astype(np.int64)


def train_input() -> tf.data.Dataset:
    """Returns infinite batches."""
    return input_fns.arrays(*make_people(5000, seed=0), batch_size=64, shuffle=True)


def eval_input() -> tf.data.Dataset:
    """Returns batches of one pass over other people."""
    return input_fns.arrays(*make_people(1000, seed=1), batch_size=100, num_epochs=1)


age = fc.numeric_column("age")
ages = fc.bucketized_column(age, [25, 35, 45, 55, 65])
job = fc.categorical_column_with_vocabulary_list("job", JOBS)
school = fc.categorical_column_with_vocabulary_list("school", SCHOOLS)
columns = [
    fc.numeric_column("age", normalizer_fn=lambda x: (x - 48) / 18),
    fc.numeric_column("hours", normalizer_fn=lambda x: (x - 35) / 14),
    fc.embedding_column(job, 4),
    fc.indicator_column(school),
]
estimator = est.DNNLinearCombinedClassifier(
    linear_feature_columns=[fc.crossed_column([ages, "job"], 100), school],
    dnn_feature_columns=columns,
    dnn_hidden_units=[32, 16],
    dnn_optimizer="Adam",
    model_dir=sys.argv[1],
)
receiver = est.export.build_parsing_serving_input_receiver_fn(fc.make_parse_example_spec(columns))
metrics, exports = est.train_and_evaluate(
    estimator,
    est.TrainSpec(train_input, max_steps=600),
    est.EvalSpec(
        eval_input,
        steps=None,
        every_steps=200,
        exporters=est.BestExporter("best", receiver, exports_to_keep=2),
    ),
)
print("accuracy", metrics["accuracy"])
print("exported", *exports)
