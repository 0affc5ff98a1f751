"""All changes that importing the package makes in the process.

`import estimator_train` calls `prepare_process`; the engine calls `prepare_tensorflow` when it is
imported. ARCHITECTURE.md lists the changes.
"""

import functools
import importlib.util
import os
import sys

from estimator_train.bootstrap import import_hook, start_up
from estimator_train.cluster import launched

__all__ = ["prepare_process", "prepare_tensorflow", "import_tracked_modules"]


def prepare_process() -> None:
    """Prepares the process for programs of tf.estimator, without importing TensorFlow."""
    _choose_keras()
    import_hook.install()
    start_up.repair_keras_seeds()
    launched.end_mistakes_with_code_2()
    start_up.warn_of_versions()
    if hasattr(sys.modules.get("tensorflow"), "io"):  # Otherwise the engine does it.
        _register_remote_schemes()


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
      user: The module that uses this package. A module of this package or of `tf_contrib` imports
        nothing: its import may not be complete.
    """
    if user.partition(".")[0] not in ("estimator_train", "tf_contrib"):
        import_hook.load_tracked_modules()


@functools.cache
def prepare_tensorflow() -> None:
    """Prepares the process for the engine, after TensorFlow is imported; only the first time."""
    start_up.speed_up_full_collection()
    start_up.drop_second_lines()
    from estimator_train.engine.tf_internals import graphs, modes

    # TensorFlow would convert each function between its own and the user's: hundreds of these
    # packages, which would take most of the time to build a graph.
    for package in ("estimator_train", "tf_contrib"):
        modes.never_convert(package)
    graphs.mend_text_of_graphs()
    _register_remote_schemes()


def _register_remote_schemes() -> None:
    """Lets TensorFlow open the remote paths that TensorFlow 2.5 could open, if a driver exists."""
    if importlib.util.find_spec("fsspec"):
        from estimator_train import remote

        remote.register_installed()
