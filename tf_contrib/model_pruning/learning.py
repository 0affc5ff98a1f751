"""`train`: the loop of `slim.learning`, with an update of the masks after each step."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from tf_contrib._types import Feeds, Session, Step
from tf_contrib.slim import training_loop
from tf_contrib.slim.training_loop import USE_DEFAULT
from tf_contrib.slim.training_step import train_step


def train(
    train_op: tf.Tensor | None,
    logdir: str | None,
    mask_update_op: tf.Operation | tf.Tensor,
    train_step_fn: Callable[..., tuple[Any, bool]] = train_step,
    train_step_kwargs: Mapping[str, Any] | int = USE_DEFAULT,
    log_every_n_steps: int | None = 1,
    graph: tf.Graph | None = None,
    master: str = "",
    is_chief: bool = True,
    global_step: Step | None = None,
    number_of_steps: int | None = None,
    init_op: Any = USE_DEFAULT,
    init_feed_dict: Feeds | None = None,
    local_init_op: Any = USE_DEFAULT,
    init_fn: Callable[[Session], None] | None = None,
    ready_op: Any = USE_DEFAULT,
    summary_op: Any = USE_DEFAULT,
    save_summaries_secs: float = 600,
    summary_writer: Any = USE_DEFAULT,
    startup_delay_steps: int = 0,
    saver: tf.compat.v1.train.Saver | None = None,
    save_interval_secs: float = 600,
    sync_optimizer: Any = None,
    session_config: tf.compat.v1.ConfigProto | None = None,
    trace_every_n_steps: int | None = None,
) -> Any:
    """Trains as `slim.learning.train`, and updates the masks after each step.

    The arguments are those of `slim.learning.train`, with mask_update_op: the operation that
    updates the masks. It also runs after the last step.

    Returns:
      The loss of the last step.

    Raises:
      ValueError: There is no training operation, or arguments exclude each other.
    """
    arguments = dict(locals())
    del arguments["mask_update_op"]
    step_fn = functools.partial(_step_and_update, train_step_fn, mask_update_op)
    return training_loop.train(**{**arguments, "train_step_fn": step_fn})


def _step_and_update(
    train_step_fn: Callable[..., tuple[Any, bool]],
    mask_update_op: tf.Operation | tf.Tensor,
    session: Session,
    *arguments: Any,
) -> tuple[Any, bool]:
    """Runs a step and then the update of the masks; returns the results of the step."""
    results = train_step_fn(session, *arguments)
    session.run(mask_update_op)
    return results
