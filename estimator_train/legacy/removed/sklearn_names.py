"""Functions, classes and arguments that scikit-learn has removed."""

from typing import Any

import numpy as np
import sklearn.feature_extraction
import sklearn.metrics
import sklearn.preprocessing
from scipy.optimize import linear_sum_assignment
from sklearn.impute import SimpleImputer

from estimator_train.legacy.removed.add import add_missing


def add_to_vectorizers() -> None:
    """Adds `get_feature_names`, removed in scikit-learn 1.2."""

    def get_feature_names(self: Any) -> list[str]:
        return list(self.get_feature_names_out())

    text = sklearn.feature_extraction.text
    for cls in (text.CountVectorizer, sklearn.feature_extraction.DictVectorizer):
        add_missing(cls, {"get_feature_names": get_feature_names})


def OneHotEncoder(  # noqa: N802
    n_values: Any = None, categorical_features: Any = None, sparse: bool = True, **named: Any
) -> Any:
    """Makes an encoder from the arguments of scikit-learn 0.20.

    Raises:
      ValueError: Only some features are categorical.
    """
    if categorical_features not in (None, "all"):
        raise ValueError(
            f"OneHotEncoder(categorical_features={categorical_features!r}): scikit-learn encodes "
            "all features; use sklearn.compose.ColumnTransformer for some of them."
        )
    if not isinstance(n_values, (str, type(None))):
        named["categories"] = [list(range(n)) for n in np.atleast_1d(n_values)]
    return sklearn.preprocessing.OneHotEncoder(**{"sparse_output": sparse, **named})


def Imputer(  # noqa: N802
    missing_values: Any = "NaN", strategy: str = "mean", axis: int = 0, **named: Any
) -> Any:
    """Makes a SimpleImputer from the arguments of the removed Imputer.

    Raises:
      ValueError: The axis is that of the rows.
    """
    if axis:
        raise ValueError("Imputer(axis=1): scikit-learn fills in columns only; transpose the data.")
    for name in ("verbose", "copy"):
        named.pop(name, None)
    missing = np.nan if missing_values == "NaN" else missing_values
    return SimpleImputer(missing_values=missing, strategy=strategy, **named)


def mean_squared_error(*arguments: Any, squared: bool = True, **named: Any) -> Any:
    """Calls `mean_squared_error`; takes `squared`, removed in scikit-learn 1.6."""
    error = sklearn.metrics.mean_squared_error(*arguments, **named)
    return error if squared else np.sqrt(error)


def jaccard_similarity_score(
    y_true: Any, y_pred: Any, normalize: bool = True, sample_weight: Any = None
) -> Any:
    """Returns the mean similarity of label sets, or the part of equal labels.

    Args:
      y_true: Labels; with shape [samples, labels], indicators of the labels of each sample.
      y_pred: Predicted labels, of the same shape.
      normalize: Whether to return the mean over the samples instead of the sum.
      sample_weight: Weights of the samples.
    """
    expected, predicted = np.asarray(y_true), np.asarray(y_pred)
    if expected.ndim > 1 and expected.shape[1] > 1:
        union = np.logical_or(expected, predicted).sum(axis=1)
        common = np.logical_and(expected, predicted).sum(axis=1)
        # Two empty sets of labels are equal.
        similarities = np.where(union, common / np.maximum(union, 1), 1.0)
    else:
        similarities = np.ravel(expected) == np.ravel(predicted)
    if normalize:
        return np.average(similarities, weights=sample_weight)
    return similarities.sum() if sample_weight is None else np.dot(similarities, sample_weight)


def linear_assignment(costs: Any) -> Any:
    """Returns the pairs of rows and columns with the smallest sum of costs."""
    return np.stack(linear_sum_assignment(costs), axis=1)
