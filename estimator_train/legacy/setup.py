"""Prepares TensorFlow for an old codebase, when the codebase first imports it."""

import importlib
import logging
import os
import sys
import warnings
from collections.abc import Mapping
from typing import Any

from absl import flags

from estimator_train.legacy import generation, seeds, trees
from estimator_train.legacy.imports import Imports
from estimator_train.legacy.trees import keras_shapes
from estimator_train.legacy.trees.view import Tree

_DEPRECATED = "is deprecated and will be removed in a future version"
_LEGACY_KERAS = "TF_USE_LEGACY_KERAS"


def install(
    directory: str,
    choice: str | None = None,
    source: str | None = None,
    seed: int | None = None,
) -> None:
    """Lets the codebase see names of its own time; once a process.

    Args:
      directory: Where the codebase's top-level modules are.
      choice: TF1 or TF2; None takes the one that the source was written for.
      source: The file that tells; by default that of the module which first imports TensorFlow.
      seed: Of each graph for which the codebase sets none; None: not seeded.

    Raises:
      RuntimeError: TensorFlow is loaded already, with Keras 3 as its Keras.
    """
    if "tensorflow" in sys.modules and os.environ.get(_LEGACY_KERAS) not in ("1", "true", "True"):
        raise RuntimeError(
            "TensorFlow was imported before old names could be prepared for, with another Keras "
            f"than theirs. Do this before the first `import tensorflow`, or set {_LEGACY_KERAS}=1."
        )
    os.environ[_LEGACY_KERAS] = "1"

    def prepared(importer: Mapping[str, Any]) -> Tree:
        return _prepared(choice, source or importer.get("__file__"), seed)

    Imports(prepared, directory).install()


def _prepared(choice: str | None, source: str | None, seed: int | None) -> Tree:
    tensorflow = importlib.import_module("tensorflow")
    chosen = choice or (generation.of_script(source, tensorflow) if source else trees.TF2)
    generation.forget()
    if chosen == trees.TF1:
        _behave_as_tf1(tensorflow)
    if seed is not None:
        seeds.seed_tensorflow(tensorflow, seed)
    _free_flag_names()
    # Old code calls what was deprecated since; a warning at each call helps nobody.
    logging.getLogger("tensorflow").addFilter(lambda record: _DEPRECATED not in record.getMessage())
    warnings.filterwarnings("ignore", message=f".*{_DEPRECATED}")
    if "numpy" in sys.modules:
        # As NumPy 1 wrote numbers: 1.0, not np.float32(1.0).
        sys.modules["numpy"].set_printoptions(legacy="1.25")
    return trees.tree(chosen)


def _free_flag_names() -> None:
    """Lets the codebase define flags of its own, as `log_dir`, that absl's logging has defined."""
    logging_flags = flags.FLAGS.flags_by_module_dict().get("absl.logging", ())
    for flag in logging_flags:
        flag.allow_override = True


def _behave_as_tf1(tensorflow: Any) -> None:
    logger = logging.getLogger("tensorflow")
    level = logger.level
    logger.setLevel(logging.ERROR)  # It warns of what is wanted here.
    try:
        tensorflow.compat.v1.disable_v2_behavior()
    finally:
        logger.setLevel(level)
    _accept_whole_floats(tensorflow.compat.v1.Dimension)
    keras_shapes.take_others()
    _give_first_values(tensorflow)


def _accept_whole_floats(dimension: Any) -> None:
    """Lets sizes be floats without a fraction, as `units / 2` is: TensorFlow 1 took them."""
    own = dimension.__init__

    def init(self: Any, value: Any) -> None:
        whole = isinstance(value, float) and value.is_integer()
        own(self, int(value) if whole else value)

    dimension.__init__ = init


def _give_first_values(tensorflow: Any) -> None:
    """Lets resource variables tell the value that they are initialized with, as references do."""

    def initialized_value(self: Any) -> Any:
        with tensorflow.init_scope():
            return tensorflow.cond(
                tensorflow.compat.v1.is_variable_initialized(self),
                self.read_value,
                lambda: self.initial_value,
            )

    tensorflow.Variable.initialized_value = initialized_value
