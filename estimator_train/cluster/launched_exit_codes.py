"""How a program that `estimator-train launch` started ends when its user made a mistake.

The launcher restarts a process that failed, unless it ended with code 2. Python itself ends with
code 1 for every error.
"""

import os
import sys
import traceback
from types import TracebackType

VARIABLE = "ESTIMATOR_TRAIN_LAUNCHED"
BAD_INPUT = 2
_PACKAGE = __name__.partition(".")[0]
# Strategies of TensorFlow find mistakes as they are made.
_FINDERS = (f"{_PACKAGE}.", "tensorflow.python.distribute.")
_NO_PART_OF_PS = "There is no id for task_type 'ps'"
_WAY_OUT = (
    ": synchronous workers use no such task. Remove it from the cluster, or use "
    "ParameterServerStrategy."
)
_before = sys.excepthook


def end_mistakes_with_code_2() -> None:
    """Makes a launched process end with one line and code 2 at a mistake that this package finds.

    A mistake is a ValueError or TypeError that this package raises and nobody catches.
    """
    if os.environ.get(VARIABLE):
        sys.excepthook = _report


def _report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    modules = [frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(trace)]
    found = [f"{module}.".startswith(_FINDERS) for module in modules]
    if not isinstance(error, (ValueError, TypeError)) or found[-1:] != [True]:
        _before(kind, error, trace)
        return
    text = " ".join(str(error).split())
    if text == _NO_PART_OF_PS:
        text += _WAY_OUT
    frames = zip(traceback.extract_tb(trace), found, strict=True)
    theirs = [frame for frame, ours in frames if not ours]
    place = f"{theirs[-1].filename}:{theirs[-1].lineno}: " if theirs else ""
    print(f"{place}error: {text}", file=sys.stderr, flush=True)
    sys.exit(BAD_INPUT)
