"""Where the answer to a generated question differs on purpose: patterns of questions, and why.

None of them refuses a program that worked: the tests hold that for every question.
"""

_ITS_ARGUMENTS = "a wrapper takes the arguments of what it wraps"
_NUMBERS = "integers of NumPy are integers, and tensors that have a value are numbers"
_PATHS = "what is a path for Python is one"
_MAPPINGS = "any mapping is taken for a dict"
_ONCE = "tf.estimator loses what can be read only once"
_FAILS = "both fail, at other places"
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
    "* RegressionHead(loss_fn)*": "a WrongShapeError is an InvalidArgumentError",
    "pairs * new *": _OPTIMIZERS,
    "pairs v1 DNN *": _OPTIMIZERS,
}
