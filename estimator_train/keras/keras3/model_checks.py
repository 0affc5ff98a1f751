"""Checks of Keras 3 models, and errors of models that a graph cannot run."""

import contextlib
from collections.abc import Iterator

import keras


def check_model(model: keras.Model) -> None:
    """Checks that an Estimator can train a model.

    Raises:
      ValueError: The backend is not TensorFlow, the model is not compiled, or it must run eagerly.
    """
    backend = keras.backend.backend()
    if backend != "tensorflow":
        raise ValueError(
            "Estimators train Keras 3 models with the TensorFlow backend, and Keras uses "
            f"{backend}. Set the environment variable KERAS_BACKEND=tensorflow before keras is "
            "imported."
        )
    if not getattr(model, "compiled", False):
        raise ValueError(
            f"The Keras model '{model.name}' has not been compiled yet. Call model.compile(...) "
            "before you make an Estimator of it."
        )
    if model.run_eagerly:
        raise ValueError(
            f"The Keras model '{model.name}' is compiled with run_eagerly=True, and an Estimator "
            "runs graphs. Compile it with run_eagerly=False, and write eager code, such as "
            ".numpy(), with keras.ops or TensorFlow."
        )


@contextlib.contextmanager
def explain_graph_errors(model: keras.Model) -> Iterator[None]:
    """Says of errors of eager code inside this context that an Estimator runs graphs."""
    try:
        yield
    except (AttributeError, NotImplementedError, TypeError) as error:
        text = str(error)
        if "numpy" not in text and "eager" not in text.lower():
            raise
        raise ValueError(
            f"The Keras model '{model.name}' runs eager code, such as .numpy(), and an Estimator "
            "runs graphs. Write it with keras.ops or TensorFlow; tf.py_function runs Python in a "
            f"graph. {type(error).__name__}: {text}"
        ) from error
