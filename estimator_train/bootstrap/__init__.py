"""All changes that importing the package makes in the process.

`import estimator_train` calls `prepare_process`; the engine calls `prepare_tensorflow` when it is
imported. ARCHITECTURE.md lists the changes.
"""

import functools
import os
import sys

from estimator_train.bootstrap import collection, import_hook, installed, keras_seeds
from estimator_train.cluster import launched

__all__ = ["prepare_process", "prepare_tensorflow", "import_tracked_modules"]


def prepare_process() -> None:
    """Prepares the process for programs of tf.estimator, without importing TensorFlow."""
    _choose_keras()
    import_hook.install()
    keras_seeds.install()
    launched.end_mistakes_with_code_2()
    installed.warn()


def _choose_keras() -> None:
    """Makes `tf.keras` be Keras 2 (tf-keras), if TensorFlow is not imported yet.

    TensorFlow reads the variable when it is imported. Programs of tf.estimator use Keras 2, and
    `tf.compat.v1.layers` needs it. `import keras` still imports Keras 3. A value that the
    environment already sets is kept.
    """
    if "tensorflow" not in sys.modules:
        os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")


def import_tracked_modules(user: str) -> None:
    """Imports the modules whose classes import hooks of trackers change.

    Args:
      user: The module that uses this package. A module of this package imports nothing: its import
        may not be complete.
    """
    if user.partition(".")[0] != __name__.partition(".")[0]:
        import_hook.load_tracked_modules()


@functools.cache
def prepare_tensorflow() -> None:
    """Prepares the process for the engine, after TensorFlow is imported; only the first time."""
    collection.speed_up_full_collection()
    from estimator_train.engine.tf_internals import graph_messages, modes

    # TensorFlow would convert each function between its own and the user's: hundreds of this
    # package, which would take most of the time to build a graph.
    modes.never_convert("estimator_train")
    graph_messages.mend_text_of_graphs()
