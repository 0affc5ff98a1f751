"""When hooks of other packages must see a step next: they do not declare `steps_until_due`.

Why internal: the intervals of these hooks are private attributes. Each hook was observed: it reads
the global step before the step that it sees.
"""

from collections.abc import Callable
from typing import Any

from estimator_train.engine.tf_internals.hook_timers import timer_due

_NEXT_STEP = 1


def _wandb_due(hook: Any, global_step: int) -> int:
    """Returns the steps to the next multiple of the interval."""
    interval = getattr(hook, "_steps_per_log", None)
    return -global_step % interval + 1 if interval else _NEXT_STEP


def _optuna_due(hook: Any, global_step: int) -> int | None:
    timer = getattr(hook, "_timer", None)
    return timer_due(timer, global_step - 1) if timer is not None else _NEXT_STEP


# Steps up to and including the next one that a hook must see, by package and class.
_DUE: dict[tuple[str, str], Callable[[Any, int], int | None]] = {
    ("wandb", "WandbHook"): _wandb_due,
    ("optuna", "TensorFlowPruningHook"): _optuna_due,
    ("optuna_integration", "TensorFlowPruningHook"): _optuna_due,
}


def find_due(kind: type) -> Callable[[Any, int], int | None] | None:
    """Returns the function that counts the steps for a class of hooks; None for unknown classes.

    Args:
      kind: The class itself, not a subclass.
    """
    return _DUE.get((kind.__module__.partition(".")[0], kind.__name__))
