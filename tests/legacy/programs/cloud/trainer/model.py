"""Features and model of the job."""
import tensorflow as tf

CSV_COLUMNS = ['price', 'size', 'rooms', 'town', 'key']
LABEL_COLUMN = 'price'
DEFAULTS = [[0.0], [0.0], [0], ['none'], ['nokey']]
TOWNS = ['north', 'south']

INPUT_COLUMNS = [
    tf.feature_column.numeric_column('size'),
    tf.feature_column.numeric_column('rooms'),
    tf.feature_column.categorical_column_with_vocabulary_list('town', TOWNS),
]


def parse_csv(rows_string_tensor):
  """Takes the string input tensor and returns a dict of rank-2 tensors."""
  row_columns = tf.expand_dims(rows_string_tensor, -1)
  columns = tf.decode_csv(row_columns, record_defaults=DEFAULTS)
  features = dict(zip(CSV_COLUMNS, columns))
  features.pop('key')
  return features


def read_dataset(filename, mode, batch_size=16):
  def _input_fn():
    filenames = tf.gfile.Glob(filename)
    dataset = tf.data.TextLineDataset(filenames).skip(0)
    if mode == tf.estimator.ModeKeys.TRAIN:
      dataset = dataset.shuffle(buffer_size=10 * batch_size, seed=1).repeat()
    dataset = dataset.batch(batch_size).map(parse_csv)
    features = dataset.make_one_shot_iterator().get_next()
    label = features.pop(LABEL_COLUMN)
    return features, label
  return _input_fn


def add_engineered(features):
  features['each'] = features['size'] / tf.to_float(tf.maximum(features['rooms'], 1))
  return features


def build_estimator(config, hidden_units=None):
  (size, rooms, town) = INPUT_COLUMNS
  buckets = tf.feature_column.bucketized_column(rooms, [1, 2, 3])
  wide = [town, buckets, tf.feature_column.crossed_column([town, buckets], 8)]
  deep = [size, rooms, tf.feature_column.indicator_column(town)]
  estimator = tf.estimator.DNNLinearCombinedRegressor(
      config=config, linear_feature_columns=wide, dnn_feature_columns=deep,
      dnn_hidden_units=hidden_units or [8, 4],
      dnn_optimizer=tf.train.AdamOptimizer(0.05),
      linear_optimizer=tf.train.FtrlOptimizer(0.2, l2_regularization_strength=0.01))
  estimator = tf.contrib.estimator.add_metrics(estimator, add_eval_metrics)
  return tf.contrib.estimator.forward_features(estimator, 'rooms')


def add_eval_metrics(labels, predictions):
  pred_values = predictions['predictions']
  return {'rmse': tf.metrics.root_mean_squared_error(labels, pred_values)}


def serving_input_fn():
  csv_row = tf.placeholder(shape=[None], dtype=tf.string)
  features = parse_csv(csv_row)
  features.pop(LABEL_COLUMN)
  return tf.estimator.export.ServingInputReceiver(features, {'csv_row': csv_row})


def json_serving_input_fn():
  inputs = {}
  for feat in INPUT_COLUMNS:
    inputs[feat.name] = tf.placeholder(
        shape=[None], dtype=feat.dtype if feat.name != 'rooms' else tf.int64)
  return tf.estimator.export.ServingInputReceiver(
      {key: tf.expand_dims(t, -1) for key, t in inputs.items()}, inputs)


SERVING_FUNCTIONS = {'JSON': json_serving_input_fn, 'CSV': serving_input_fn}
