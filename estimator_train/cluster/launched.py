"""Messages from a process to `estimator-train launch`, which started it: exit codes, checkpoints.

The launcher restarts a process that failed, unless it ended with code 2. Python itself ends with
code 1 for every error. Each new checkpoint shows the launcher that restarts help.
"""

import contextlib
import os
import sys
import traceback
from types import TracebackType

VARIABLE = "ESTIMATOR_TRAIN_LAUNCHED"
CHECKPOINT_FILE_VARIABLE = "ESTIMATOR_TRAIN_CHECKPOINT_FILE"
# Directory in shared memory for a copy of the last checkpoint, and of a step after it.
MEMORY_VARIABLE = "ESTIMATOR_TRAIN_MEMORY_DIR"
# File there that describes the copy of the step; without it that copy does not count.
INTERIM_FILE = "interim.json"
BAD_INPUT = 2
# Packages that raise errors for mistakes of the user; strategies of TensorFlow check themselves.
_CHECKING_PACKAGES = ("estimator_train.", "tf_contrib.", "tensorflow.python.distribute.")
_PS_ID_ERROR = "There is no id for task_type 'ps'"
_PS_ADVICE = (
    ": synchronous workers use no such task. Remove it from the cluster, or use "
    "ParameterServerStrategy."
)
_original_hook = sys.excepthook


def end_mistakes_with_code_2() -> None:
    """Makes a launched process end with one line and code 2 at a mistake of the user.

    A mistake is an uncaught ValueError or TypeError that this package raises.
    """
    if os.environ.get(VARIABLE):
        sys.excepthook = _report


def report_checkpoint(path: str) -> None:
    """Writes the path of a new checkpoint to the launcher's file, if this process has a launcher.

    Args:
      path: The path of the checkpoint without the suffixes of its files.
    """
    file = os.environ.get(CHECKPOINT_FILE_VARIABLE)
    if file:
        # The file is gone if the launcher was killed.
        with contextlib.suppress(OSError), open(file, "r+", encoding="utf-8") as opened:
            opened.write(path)
            opened.truncate()


def _report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    modules = [frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(trace)]
    found = [f"{module}.".startswith(_CHECKING_PACKAGES) for module in modules]
    if not isinstance(error, (ValueError, TypeError)) or found[-1:] != [True]:
        _original_hook(kind, error, trace)
        return
    text = " ".join(str(error).split())
    if text == _PS_ID_ERROR:
        text += _PS_ADVICE
    frames = zip(traceback.extract_tb(trace), modules, found, strict=True)
    user_frames = [
        frame
        for frame, module, is_own in frames
        if not is_own and module.partition(".")[0] not in sys.stdlib_module_names
    ]
    place = f"{user_frames[-1].filename}:{user_frames[-1].lineno}: " if user_frames else ""
    print(f"{place}error: {text}", file=sys.stderr, flush=True)
    sys.exit(BAD_INPUT)
