"""Classes that Keras 2 has removed: arrays of HDF5 files, and wrappers for scikit-learn."""

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf


class HDF5Matrix:
    """Rows of a dataset in an HDF5 file, as an array.

    Args:
      datapath: Path of the file.
      dataset: Name of the dataset.
      start: First row.
      end: Row after the last; None: the end of the dataset.
      normalizer: Function of the rows that are read.
    """

    refs: dict[str, Any] = {}

    def __init__(
        self,
        datapath: str,
        dataset: str,
        start: int = 0,
        end: int | None = None,
        normalizer: Callable[[Any], Any] | None = None,
    ) -> None:
        import h5py

        if datapath not in self.refs:
            self.refs[datapath] = h5py.File(datapath, "r")
        self.data = self.refs[datapath][dataset]
        self.start = start
        self.end = self.data.shape[0] if end is None else end
        self.normalizer = normalizer

    def __len__(self) -> int:
        return self.end - self.start

    def __getitem__(self, key: int | slice | Sequence[int] | np.ndarray) -> Any:
        """Returns rows by an index, a slice, or indices.

        Raises:
          IndexError: A row is not between start and end.
        """
        index: Any
        if isinstance(key, slice):
            start = 0 if key.start is None else key.start
            stop = len(self) if key.stop is None else key.stop
            index, last = slice(start + self.start, stop + self.start), stop + self.start - 1
        elif isinstance(key, (int, np.integer)):
            index = last = key + self.start
        else:
            index = [one + self.start for one in np.asarray(key).tolist()]
            last = max(index)
        if last >= self.end:
            raise IndexError(f"Row {last} is not before {self.end}, the end of the matrix.")
        rows = self.data[index]
        return rows if self.normalizer is None else self.normalizer(rows)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the rows between start and end."""
        return (len(self), *self.data.shape[1:])

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the dataset."""
        return self.data.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.data.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape))


class _Wrapper:
    """Base class of estimators of scikit-learn that train a Keras model.

    Args:
      build_fn: Function, or object with `__call__`, that returns a compiled model; by default the
        method `__call__`.
      **sk_params: Arguments of build_fn, and of the model's `fit`, `predict` and `evaluate`.

    Raises:
      ValueError: None of them has an argument of a given name.
    """

    _estimator_type = ""

    def __init__(self, build_fn: Callable[..., Any] | None = None, **sk_params: Any) -> None:
        self.build_fn, self.sk_params = build_fn, sk_params
        self.check_params(sk_params)

    def __sklearn_tags__(self) -> Any:
        """Returns the tags that scikit-learn 1.6 and later ask for."""
        from sklearn.utils import ClassifierTags, RegressorTags, Tags, TargetTags

        is_classifier = self._estimator_type == "classifier"
        return Tags(
            estimator_type=self._estimator_type,
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags() if is_classifier else None,
            regressor_tags=None if is_classifier else RegressorTags(),
        )

    def _get_builder(self) -> Callable[..., Any]:
        """Returns the function that builds the model, and whose arguments are read."""
        if self.build_fn is None:
            return self.__call__  # type: ignore[operator]
        is_function = inspect.isfunction(self.build_fn) or inspect.ismethod(self.build_fn)
        return self.build_fn if is_function else self.build_fn.__call__  # type: ignore[operator]

    def check_params(self, params: Mapping[str, Any]) -> None:
        """Raises ValueError if no function has an argument of a given name."""
        model = tf.keras.Sequential
        functions = (model.fit, model.predict, model.evaluate, self._get_builder())
        known = {name for one in functions for name in inspect.signature(one).parameters}
        for name in params:
            if name not in known and name != "nb_epoch":
                raise ValueError(f"{name} is not a legal parameter")

    def get_params(self, **params: Any) -> dict[str, Any]:
        """Returns the arguments of the constructor."""
        del params
        return {**copy.deepcopy(self.sk_params), "build_fn": self.build_fn}

    def set_params(self, **params: Any) -> "_Wrapper":
        """Replaces arguments and returns this object."""
        self.check_params({name: one for name, one in params.items() if name != "build_fn"})
        self.build_fn = params.pop("build_fn", self.build_fn)
        self.sk_params.update(params)
        return self

    def filter_sk_params(
        self, fn: Callable[..., Any], override: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Returns the parameters that a function takes, and those that override them."""
        accepted = inspect.signature(fn).parameters
        known = {name: value for name, value in self.sk_params.items() if name in accepted}
        return known | dict(override or {})

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Builds and trains the model and returns its history; see `Model.fit`."""
        builder = self._get_builder()
        self.model = builder(**self.filter_sk_params(builder))
        loss = getattr(self.model.loss, "__name__", self.model.loss)
        if loss == "categorical_crossentropy" and np.ndim(y) != 2:
            y = tf.keras.utils.to_categorical(y)
        return self.model.fit(x, y, **self.filter_sk_params(self.model.fit, kwargs))

    def _predict(self, x: Any, arguments: Mapping[str, Any]) -> np.ndarray:
        return self.model.predict(x, **self.filter_sk_params(self.model.predict, arguments))

    def _evaluate(self, x: Any, y: Any, arguments: Mapping[str, Any]) -> dict[str, float]:
        """Returns the loss and the metrics of the model, by name."""
        found = self.model.evaluate(x, y, **self.filter_sk_params(self.model.evaluate, arguments))
        return dict(zip(self.model.metrics_names, np.atleast_1d(found), strict=True))


class KerasClassifier(_Wrapper):
    """Classifier of scikit-learn that trains a Keras model; see `_Wrapper`."""

    _estimator_type = "classifier"

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Builds and trains the model and returns its history.

        Args:
          x: Features.
          y: Labels, or rows with a 1 for the class.
          **kwargs: Arguments of `Model.fit`.

        Raises:
          ValueError: y has the wrong shape.
        """
        y = np.asarray(y)
        if y.ndim == 2 and y.shape[1] > 1:
            self.classes_ = np.arange(y.shape[1])
        elif y.ndim == 1 or (y.ndim == 2 and y.shape[1] == 1):
            self.classes_ = np.unique(y)
            y = np.searchsorted(self.classes_, y)
        else:
            raise ValueError(f"Invalid shape for y: {y.shape}")
        self.n_classes_ = len(self.classes_)
        return super().fit(x, y, **kwargs)

    def predict(self, x: Any, **kwargs: Any) -> np.ndarray:
        """Returns the label of each example."""
        found = self._predict(x, kwargs)
        index = found.argmax(-1) if found.shape[-1] > 1 else (found > 0.5).astype(np.int32)
        return self.classes_[index]

    def predict_proba(self, x: Any, **kwargs: Any) -> np.ndarray:
        """Returns the probability of each class, of shape [examples, classes]."""
        found = self._predict(x, kwargs)
        return np.hstack([1 - found, found]) if found.shape[1] == 1 else found

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """Returns the accuracy.

        Raises:
          ValueError: The model is not compiled with the metric "accuracy".
        """
        y = np.searchsorted(self.classes_, y)
        loss = getattr(self.model.loss, "__name__", self.model.loss)
        if loss == "categorical_crossentropy" and y.ndim != 2:
            y = tf.keras.utils.to_categorical(y)
        found = self._evaluate(x, y, kwargs)
        for name in ("accuracy", "acc"):
            if name in found:
                return float(found[name])
        raise ValueError(
            'The model is not configured to compute accuracy. Compile it with metrics=["accuracy"].'
        )


class KerasRegressor(_Wrapper):
    """Regressor of scikit-learn that trains a Keras model; see `_Wrapper`."""

    _estimator_type = "regressor"

    def predict(self, x: Any, **kwargs: Any) -> np.ndarray:
        """Returns the number of each example."""
        return np.squeeze(self._predict(x, kwargs), -1)

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """Returns the negative loss: a greater score is better."""
        return -float(self._evaluate(x, y, kwargs)["loss"])
