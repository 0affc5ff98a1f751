"""Questions about tf.contrib.timeseries: names, features, statistics, networks and losses."""

import tempfile

import numpy as np
import tensorflow as tf
from asking import main, numbers, question, signature
from estimating import Load, end_to_end, whole
from tensorflow.contrib.timeseries.python.timeseries import (
    ar_model,
    feature_keys,
    math_utils,
    model as ts_model,
    state_management,
)
from trying import tried

timeseries = tf.contrib.timeseries
TRAIN, EVAL = tf.estimator.ModeKeys.TRAIN, tf.estimator.ModeKeys.EVAL
LOSSES = [timeseries.ARModel.SQUARED_LOSS, timeseries.ARModel.NORMAL_LIKELIHOOD_LOSS]


def series(length, size=1, batch=1, start=0):
    """Features of windows that begin at the same time."""
    times = start + np.tile(np.arange(length), (batch, 1))
    values = tf.constant(3 * numbers(batch, length, size) + 1)
    return {"times": tf.constant(times, tf.int64), "values": values}


class Network(tf.keras.Model):
    """Adds the features of both windows to the predictions, so that they are seen there."""

    def __init__(self, num_features, input_window_size, output_window_size):
        super().__init__()
        self.shape = (output_window_size, num_features)

    def call(self, input_window_features, output_window_features):
        count = tf.shape(output_window_features)[0]
        seen = numbers(*input_window_features.shape.as_list()[1:])
        mean = tf.reduce_sum(input_window_features * seen, [1, 2])[:, None, None]
        size = output_window_features.shape.as_list()[2]
        also = tf.reduce_sum(output_window_features * numbers(size, start=3), 2, keepdims=True)
        spread = tf.tile(tf.constant(1.5 + numbers(1, *self.shape)), [count, 1, 1])
        return {"mean": mean + also + numbers(*self.shape, start=9), "covariance": spread}


def ar(size=1, inputs=3, outputs=2, scaled=False, features=None, **named):
    """Returns a model whose graph is begun, with statistics of the features or without."""
    named.setdefault("periodicities", 7)
    named.setdefault("prediction_model_factory", Network)
    model = timeseries.ARModel(
        input_window_size=inputs, output_window_size=outputs, num_features=size, **named
    )
    begin(model, features if scaled else None)
    return model


def begin(model, features=None):
    statistics = None
    if features is not None:
        generator = math_utils.InputStatisticsFromMiniBatch(
            num_features=model.num_features, dtype=model.dtype
        )
        statistics = generator.initialize_graph(features, update_statistics=True)
    model.initialize_graph(input_statistics=statistics)


def made(outputs):
    """Returns a model's outputs for windows, without None values."""
    parts = outputs._asdict()
    return {key: value for key, value in parts.items() if value is not None}


@question
def names():
    return {
        name: ", ".join(signature(getattr(timeseries, name)))
        for name in sorted(dir(timeseries))
        if name[0].isupper() and callable(getattr(timeseries, name))
    }


@question
def functions():
    utils = timeseries.saved_model_utils
    several = [
        timeseries.predict_continuation_input_fn,
        timeseries.TimeSeriesRegressor.build_raw_serving_input_receiver_fn,
        utils.cold_start_filter,
        utils.filter_continuation,
        utils.predict_continuation,
        ar_model.FlatPredictionModel,
        ar_model.AnomalyMixtureARModel,
        ts_model.SequentialTimeSeriesModel,
        state_management.ChainingStateManager,
    ]
    return {one.__name__: ", ".join(signature(one)) for one in several}


@question
def keys():
    kinds = "TrainEvalFeatures PredictionFeatures PredictionResults FilteringFeatures"
    kinds = kinds.split() + ["FilteringResults", "SavedModelLabels", "State"]
    found = {kind: vars_of(getattr(feature_keys, kind)) for kind in kinds}
    return dict(found, models=vars_of(ar_model.AnomalyMixtureARModel))


def vars_of(kind):
    return ", ".join(name + "=" + getattr(kind, name) for name in dir(kind) if name.isupper())


def read(make):
    """Returns the batches of a reader or an input_fn, in a separate graph and session."""
    with tf.Graph().as_default(), tf.Session() as session:
        made = make()
        tensors = made[0] if isinstance(made, tuple) else made
        session.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        tf.train.start_queue_runners(session, coordinator)
        found = session.run(tensors)
        coordinator.request_stop()
    return found


def as_lists(found):
    types = ", ".join(name + " " + str(found[name].dtype) for name in sorted(found))
    return dict({name: value.tolist() for name, value in found.items()}, types=types)


DATA = {
    "times": np.arange(5, 13),
    "values": np.sin(np.arange(8.0)),
    "pair": numbers(8, 2),
    "count": np.arange(8),
}
LINES = "5,1.5,a,2\n6,2.5,b,3\n8,3.5,c,4\n"


def csv_file(text):
    with tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False) as f:
        f.write(text)
    return f.name


@question
def numpy_reader():
    return as_lists(read(timeseries.NumpyReader(DATA).read_full))


@question
def whole_series():
    return as_lists(read(timeseries.WholeDatasetInputFn(timeseries.NumpyReader(DATA))))


@question
def whole_file():
    reader = timeseries.CSVReader(
        csv_file("time,a,b,c\n" + LINES),
        column_names=("times", "values", "word", "values"),
        column_dtypes=(tf.int64, tf.float32, tf.string, tf.float32),
        skip_header_lines=1,
    )
    return as_lists(read(timeseries.WholeDatasetInputFn(reader)))


@question
def windows_of_the_only_size():
    reader = timeseries.NumpyReader(dict(DATA, pair=DATA["pair"][:, :1]))
    windows = timeseries.RandomWindowInputFn(reader, batch_size=2, window_size=8, jitter=False)
    return as_lists(read(windows.create_batch))


@question
def shapes_of_input():
    reader = timeseries.NumpyReader(DATA)
    with tf.Graph().as_default():
        windows = timeseries.RandomWindowInputFn(reader, batch_size=2, window_size=4)()
        whole = timeseries.WholeDatasetInputFn(reader)()
    found = {name: str(value.shape.as_list()) for name, value in windows[0].items()}
    return dict(found, labels=str(whole[1]) + str(windows[1]))


EVALUATION = {"times": np.arange(6)[None], "start_tuple": (np.ones((1, 2), np.float32),)}


@question
def continuation():
    more = {"known": [[1.0, 2.0, 3.0]], "word": [["x"] * 3], "pair": numbers(1, 3, 2)}
    continued = timeseries.predict_continuation_input_fn
    found = read(continued(EVALUATION, steps=3, exogenous_features=more))
    later = read(continued(EVALUATION, times=np.array([7, 9])))
    state = "start_tuple"
    return {
        "shapes": str(sorted((name, np.shape(value)) for name, value in found.items())),
        "times": found["times"].tolist(),
        "later": later["times"].tolist(),
        "state": later[state][0].tolist(),
    }


@question
def wrong_readers():
    one = timeseries.NumpyReader
    csv = timeseries.CSVReader
    return {
        "values": tried(one, {"times": np.arange(2)}),
        "times": tried(one, {"values": np.arange(2.0)}),
        "lengths": tried(one, {"times": np.arange(2), "values": np.arange(3.0)}),
        "no times": tried(csv, "x", column_names=("values",)),
        "times twice": tried(csv, "x", column_names=("times", "times", "values")),
        "no values": tried(csv, "x", column_names=("times",)),
    }


@question
def wrong_continuations():
    continued = timeseries.predict_continuation_input_fn
    return {
        "nothing": tried(continued, EVALUATION),
        "both": tried(continued, EVALUATION, steps=2, times=[7, 8]),
        "state": tried(continued, {"times": np.arange(6)[None]}, steps=2),
    }


@question
def statistics():
    """After each of some windows, which come in no order."""
    generator = math_utils.InputStatisticsFromMiniBatch(
        num_features=2, dtype=tf.float32, starting_variance_window_size=3
    )
    times = tf.placeholder(tf.int64, [None, None])
    values = tf.placeholder(tf.float32, [None, None, 2])
    found = generator.initialize_graph({"times": times, "values": values})
    parts = (found.overall_feature_moments, found.series_start_moments)
    fetched = {"overall": parts[0], "start": parts[1], "time": found.start_time,
               "count": found.total_observation_count}  # fmt: skip
    answers = {}
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for index, start in enumerate((5, 2, 30, 2)):
            fed = {times: start + np.array([[0, 1, 3, 4]] * 2)}
            fed[values] = numbers(2, 4, 2, start=index) * 3 + 1
            now = session.run(fetched, fed)
            for name, value in now.items():
                answers[name + str(index)] = np.array(value).tolist()
    return answers


def trained(loss, scaled, **named):
    features = series(5, 2, 3, start=4)
    model = ar(2, loss=loss, scaled=scaled, features=features, **named)
    return made(model.define_loss(features, TRAIN))


def evaluated(loss, scaled, length=12, inputs=3):
    features = series(length, 2, start=4)
    model = ar(2, inputs=inputs, loss=loss, scaled=scaled, features=features)
    return made(model.define_loss(features, EVAL))


for loss in LOSSES:
    for scaled in (False, True):
        end = "_" + loss.split("_")[0] + "_scaled" * scaled

        def asked(loss=loss, scaled=scaled):
            return trained(loss, scaled)

        asked.__name__ = "ar_training" + end
        question(asked)

        def asked(loss=loss, scaled=scaled):
            return evaluated(loss, scaled)

        asked.__name__ = "ar_evaluation" + end
        question(asked)


@question
def ar_evaluation_of_an_odd_length():
    return evaluated(LOSSES[1], False, length=10)


@question
def ar_evaluation_by_times_alone():
    return evaluated(LOSSES[1], True, inputs=0)


@question
def ar_windows_of_wrong_length():
    return trained_on(6)


@question
def ar_evaluation_of_too_little():
    return evaluated(LOSSES[0], False, length=4)


def trained_on(length):
    return made(ar().define_loss(series(length), TRAIN))


def predicted(length, **named):
    features = series(8, 2, start=4)
    model = ar(2, features=features, scaled=True, **named)
    state = model.define_loss(features, EVAL).end_state
    times = tf.constant(12 + np.arange(length)[None], tf.int64)
    return dict(model.predict({"times": times, "start_tuple": state}))


@question
def ar_prediction():
    return predicted(6)


@question
def ar_prediction_of_an_odd_length():
    return predicted(5)


@question
def ar_prediction_of_squares():
    return predicted(4, loss=LOSSES[0])


@question
def ar_prediction_by_times_alone():
    return predicted(4, inputs=0)


def in_cycles(periodicities, buckets):
    features = series(13, start=-2)
    model = ar(inputs=0, outputs=13, periodicities=periodicities, num_time_buckets=buckets)
    return model.define_loss(features, TRAIN).predictions["mean"]


@question
def places_in_cycles():
    return {
        f"{cycle} {buckets}": in_cycles(cycle, buckets)
        for cycle in (4, 7, 200, [3, 5])
        for buckets in (1, 3, 10)
    }


def network(kind, **named):
    made = kind(num_features=2, input_window_size=3, output_window_size=2, **named)
    return dict(made(tf.constant(numbers(2, 3, 4)), tf.constant(numbers(2, 2, 3, start=5))))


@question
def flat_network():
    return network(ar_model.FlatPredictionModel)


@question
def hidden_network():
    return network(ar_model.FlatPredictionModel, hidden_layer_sizes=[4, 3])


def with_anomalies(distribution):
    model = ar_model.AnomalyMixtureARModel(
        7, 0.2, 2, 2, 2, Network, anomaly_distribution=distribution, num_time_buckets=3
    )
    begin(model)
    return made(model.define_loss(series(4, 2, 2, start=3), TRAIN))


@question
def gaussian_anomalies():
    return with_anomalies("gaussian")


@question
def cauchy_anomalies():
    return with_anomalies("cauchy")


@question
def wrong_regressors():
    def tried_with(**named):
        made = tried(timeseries.ARRegressor, 7, 3, 2, 1, **named)
        return made if made[0] == "!" else "made"

    squares = LOSSES[0]
    return {
        "no probability": tried_with(anomaly_distribution="gaussian"),
        "squares": tried_with(anomaly_prior_probability=0.1, loss=squares),
        "usual": tried_with(),
    }


LONG = {"times": np.arange(5, 19), "values": numbers(14, 1) * 3 + 1}


def regressor(**named):
    return timeseries.ARRegressor(
        7, 3, 2, 1, num_time_buckets=3, model_dir=tempfile.mkdtemp(),
        optimizer=tf.train.GradientDescentOptimizer(0.05), **named
    )  # fmt: skip


@question
def ar_regressor():
    return end_to_end(regressor(), LONG, 5)


@question
def ar_regressor_of_squares_with_hidden_layers():
    return end_to_end(regressor(loss=LOSSES[0], hidden_layer_sizes=[4]), LONG, 5)


@question
def ar_regressor_with_anomalies():
    anomalies = {"anomaly_prior_probability": 0.1, "anomaly_distribution": "cauchy"}
    return end_to_end(regressor(**anomalies), LONG, 5)


@question
def ar_regressor_with_known_features():
    words = tf.feature_column.categorical_column_with_identity("known", 3)
    column = tf.feature_column.embedding_column(words, 2)
    # Only whole windows: with a remainder, the original uses wrong times for these features.
    data = dict({name: values[:13] for name, values in LONG.items()}, known=np.arange(13) % 3)
    known = {"known": [[0, 1, 1, 2, 0]]}
    return end_to_end(regressor(exogenous_feature_columns=[column]), data, 5, known)


@question
def one_shot_head():
    """Exports without a state: seven values and ten times, of which three are predicted."""
    words = tf.feature_column.categorical_column_with_identity("known", 3)
    model = timeseries.ARModel(
        7, 3, 2, 1, num_time_buckets=3,
        exogenous_feature_columns=[tf.feature_column.embedding_column(words, 2)],
    )  # fmt: skip
    estimator = timeseries.TimeSeriesRegressor(
        model, state_management.FilteringOnlyStateManager(), tf.train.AdamOptimizer(0.1),
        tempfile.mkdtemp(), head_type=timeseries.OneShotPredictionHead,
    )  # fmt: skip
    data = dict(LONG, known=np.arange(14) % 3)
    first = {name: values[:5] for name, values in data.items()}
    estimator.train(whole(first), steps=1, hooks=[Load()])
    receiver = estimator.build_raw_serving_input_receiver_fn()
    path = estimator.export_savedmodel(tempfile.mkdtemp(), receiver)
    predictor = tf.contrib.predictor.from_saved_model(path)
    fed = {"times": data["times"][None, :10], "values": data["values"][None, :7],
           "known": data["known"][None, :10, None]}  # fmt: skip
    found = predictor(fed)
    inputs = ", ".join(sorted(predictor.feed_tensors))
    return dict({name: value.tolist() for name, value in found.items()}, inputs=inputs)


class Falling(ts_model.SequentialTimeSeriesModel):
    """A model in which each kind of step leaves its trace."""

    def __init__(self, **named):
        super(Falling, self).__init__(["mean", "seen"], ["mean"], 2, **named)  # noqa: UP008

    def initialize_graph(self, input_statistics=None):
        super(Falling, self).initialize_graph(input_statistics=input_statistics)  # noqa: UP008
        with tf.variable_scope("", use_resource=True):
            self.share = tf.get_variable("share", [2])

    def get_start_state(self):
        known = tf.zeros(self._get_exogenous_embedding_shape())
        return (tf.zeros([], tf.int64), tf.constant([0.5, 0.25]), known, [tf.ones([3])])

    def _imputation_step(self, current_times, state):
        time, last, known, (seen,) = state
        return time, last, known, [seen + 100]

    def _exogenous_input_step(self, current_times, current_exogenous_regressors, state):
        time, last, _, (seen,) = state
        return time, last, current_exogenous_regressors, [seen * 2]

    def _prediction_step(self, current_times, state):
        time, last, known, seen = state
        distance = tf.cast(current_times - time, tf.float32)[:, None]
        mean = last * self.share + tf.reduce_sum(known, -1, keepdims=True) + 0.1 * distance
        return (current_times, mean, known, seen), {"mean": self._scale_back_data(mean)}

    def _filtering_step(self, current_times, current_values, state, predictions):
        _, mean, known, (seen,) = state
        values = self._scale_data(current_values)
        predictions["loss"] = tf.reduce_mean((mean - values) ** 2, -1)
        predictions["seen"] = seen
        return (current_times, values, known, [seen + 1]), predictions


KNOWN = [tf.feature_column.numeric_column("known")]
PAIRS = {"times": np.array([2, 3, 5, 6, 9, 10, 11, 12]), "values": numbers(8, 2)}


def stepped(**named):
    model = Falling(**named)
    features = series(4, 2, 3, start=4)
    begin(model, features)
    features["known"] = tf.constant(numbers(3, 4, start=2))
    outputs = model.define_loss(features, TRAIN)
    later = {"times": features["times"] + 6, "known": features["known"]}
    predicted = model.predict(dict(later, start_tuple=outputs.end_state))
    return dict(made(outputs), predicted=dict(predicted))


@question
def steps_in_turn():
    return stepped()


@question
def steps_with_known_features():
    return stepped(exogenous_feature_columns=KNOWN)


@question
def steps_with_some_known_features():
    def condition(times, features):
        return tf.logical_and(tf.equal(times % 2, 0), features["known"] > 0)

    return stepped(exogenous_feature_columns=KNOWN, exogenous_update_condition=condition)


@question
def steps_on_scaled_values():
    return {"model": tried(stepped, normalize_features=True)}


def own(manager, **named):
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    return timeseries.TimeSeriesRegressor(
        Falling(**named), manager, optimizer, model_dir=tempfile.mkdtemp()
    )


@question
def regressor_of_a_model():
    return end_to_end(own(state_management.ChainingStateManager()), PAIRS, 6)


@question
def regressor_of_a_model_with_known_features():
    data = dict(PAIRS, known=numbers(8, start=2))
    known = {"known": [[0.5, 1.0, 1.5, 2.0, 0.0]]}
    manager = state_management.ChainingStateManager()
    return end_to_end(own(manager, exogenous_feature_columns=KNOWN), data, 6, known)


@question
def regressor_whose_states_are_chained():
    manager = state_management.ChainingStateManager(state_saving_interval=1)
    return end_to_end(own(manager), PAIRS, 6)


if __name__ == "__main__":
    main()
