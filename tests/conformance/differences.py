"""Where the answer to a generated question differs on purpose: patterns of questions, and why.

None of them refuses a program that worked: the tests hold that for every question.
"""

_ITS_ARGUMENTS = "a wrapper takes the arguments of what it wraps"
_NUMBERS = "integers of NumPy are integers, and tensors that have a value are numbers"
_PATHS = "what is a path for Python is one"
_MAPPINGS = "any mapping is taken for a dict"
_ONCE = "tf.estimator loses what can be read only once"
_FAILS = "both fail, at other places"
_SIGNATURES = "what makes a signature is an output"
_EXAMPLES = "what has a type and a shape is an example; others lack them"
_CALLED = "what Keras takes elsewhere is a loss, a metric and its weight here too"
_EVALUATED = "weighted metrics and those that layers add are evaluated"
_KERAS = "optimizers, layers and models that tf.estimator could not make again"
_WEIGHTS = "labels of other types, heads and weights that delegate, losses of all arguments"
_POINTS = "numbers of any type, in any iterable; where both fail, at other places"
_TIE = "a point is as near to one center as to the other"
_RACE = "tf.estimator does not wait for counts and distances before it changes them"
_PARAMS = "who has no use for params need not take them"
_COLUMNS = "a column alone and columns of a program's own are taken, whatever their names"
_OPTIMIZERS = "new optimizers train, and v1 estimators take v1 optimizers with any head"

DIFFERENT: dict[str, str] = {
    "* wrapped": _ITS_ARGUMENTS,
    "* MappingProxyType": _MAPPINGS,
    "* UserDict": _MAPPINGS,
    "* ChainMap": _MAPPINGS,
    "* numpy int32": _NUMBERS,
    "* numpy int64": _NUMBERS,
    "* tensor": _NUMBERS,
    "* tensor of int64": _NUMBERS,
    "* Estimator.*(export_dir_base) *Path*": _PATHS,
    "* Estimator.*(checkpoint_path) *Path*": _PATHS,
    "* EvalSpec(exporters) generator": _ONCE,
    "* EvalSpec(exporters) iterator": _ONCE,
    "* MultiHead(heads) generator": _ONCE,
    "* MultiHead(heads) iterator": _ONCE,
    "* *Head(thresholds) array*": "arrays are sequences",
    "* inputs.* float": _FAILS,
    "* inputs.* numpy float32": _FAILS,
    "* MultiClassHead(n_classes) *": _FAILS,
    "* *Class*(label_vocabulary) None": _FAILS,
    "* *Classifier(n_classes) *": _FAILS,
    "* RegressionHead([*])": _FAILS,
    "* own mapping*": _MAPPINGS,
    "*: UserDict": _MAPPINGS,
    "* export: assets: path beside": _PATHS,
    "* export.all: None": _FAILS,
    "* export_outputs: of no class": _SIGNATURES,
    "* export_outputs: that delegates": _SIGNATURES,
    "* raw_serving: *": _EXAMPLES,
    "* raw_supervised: *": _EXAMPLES,
    "* TPUEstimator: input: *": _PARAMS,
    "* TPUEstimator: model_fn: *": _PARAMS,
    "* TPUEstimator: params: a list": _FAILS,
    "* TPUEstimator: spec: None": _FAILS,
    "* TPUEstimator: export_to_cpu": "an export without a TPU is one for CPU",
    **dict.fromkeys(
        [
            *("* keras.loss: partial", "* keras.loss: object", "* keras.loss: capitals"),
            *("* keras.loss: none", "* keras.metrics: a name", "* keras.metrics: a tuple"),
            *("* keras.metrics: partial", "* keras.metrics: object", "* keras.metrics: *lambda*"),
            *("* keras.metrics: instance", "* keras.loss_weights: number"),
            "* keras.loss_weights: tuple",
        ],
        _CALLED,
    ),
    "* keras.weighted_metrics: *": _EVALUATED,
    "* keras.layers: own: adds a metric": _EVALUATED,
    **dict.fromkeys(
        [
            *("* keras.optimizer: new, subclass", "* keras.optimizer: new, AdamW"),
            *("* keras.optimizer: new, Lion", "* keras.layers: own: without config"),
            *("* keras.layers: own: popped", "* keras.subclassed: *"),
        ],
        _KERAS,
    ),
    "* keras.inputs: integers": "integers are numbers",
    "* keras.inputs: weights*": "sample weights are taken in all their forms",
    "* keras.keras_model_path: pathlib": _PATHS,
    "* keras.optimizer: new, decay*": "weight decay is what `fit` does",
    **dict.fromkeys(
        [
            *("* keras.metrics: None among them", "* keras.metrics: unknown"),
            *("* keras.metrics: a number", "* keras.optimizer: *, schedule without config"),
            *("* model_to_estimator: outputs: a list", "* model_to_estimator: model: *"),
            "* model_to_estimator: outputs: an instance",
        ],
        _FAILS,
    ),
    **dict.fromkeys(
        [
            *("* MultiClassHead.labels: small integers", "* MultiLabelHead.labels: a list"),
            *("* Head.train: optimizer: new", "* Head.weight_column: delegates"),
            "* Head.loss_fn: with all",
        ],
        _WEIGHTS,
    ),
    **dict.fromkeys(
        [
            *("* BinaryClassHead.labels: strings", "* MultiLabelHead.labels: ragged"),
            *("* *Head.weights: too many", "* Head.weight_column: features: *"),
        ],
        _FAILS,
    ),
    "* BinaryClassHead.weights: zero": "of no weight, the share of the more frequent class is 1",
    **dict.fromkeys(
        [
            *("* RNNClassifier: units: *", "* RNNClassifier: *: generator"),
            *("* KMeans.points: *", "* KMeans.feature_columns: *"),
            *("* KMeans.initial_clusters: doubles", "* KMeans.initial_clusters: integers"),
            *("* KMeans.initial_clusters: a tensor", "* KMeans.initial_clusters: function of *"),
            *("* KMeans.initial_clusters: of another size", "* KMeans.initial_clusters: None"),
        ],
        _POINTS,
    ),
    "* KMeans.initial_clusters: partial": _TIE,
    "* KMeans.initial_clusters: object": _TIE,
    "* KMeans: count that is a *": _RACE,
    "* KMeans: iterations *": _RACE,
    "* *LinearEstimator.head: *": _OPTIMIZERS,
    **dict.fromkeys(
        [
            *("* RNNEstimator.head: delegates", "* SequentialHeadWrapper: generator"),
            *("* call_logit_fn: a variable", "* call_logit_fn: a dict of variables"),
            *("* *_logit_fn_builder: columns: generator", "* LinearSDCA: ids in a column"),
        ],
        _WEIGHTS,
    ),
    **dict.fromkeys(
        [
            *("* TPUEstimatorSpec: predictions: of scalars", "* DNNEstimator.head: class"),
            *("* Head.loss_fn: that returns a scalar", "* LinearSDCA: num_table_shards zero"),
        ],
        _FAILS,
    ),
    "* *Classifier.columns: one that is in no list": _COLUMNS,
    "* DNNClassifier.columns: own class*": _COLUMNS,
    "* LinearRegressor.features: a name that is no str": _MAPPINGS,
    "* DNNClassifier.hidden_units: generator": _ONCE,
    "* DNNLinearCombinedClassifier: generators": _ONCE,
    "* DNNClassifier.hidden_units: True": _NUMBERS,
    "* DNNClassifier.hidden_units: a tensor": _NUMBERS,
    "pairs of clusters * doubles *": _POINTS,
    "pairs of clusters * function * mini *": _RACE,
    "pairs of kinds v? * v1 *": _OPTIMIZERS,
    "pairs of kinds v1 * legacy *": _OPTIMIZERS,
    "pairs * new *": _OPTIMIZERS,
    "pairs v1 DNN *": _OPTIMIZERS,
}
