"""TrainSpec and EvalSpec: the training and the evaluations of `train_and_evaluate`."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from estimator_train.engine.types import Hook, InputFn, Listener
from estimator_train.estimator_spec import check_instances, check_positive
from estimator_train.training.exporters import Exporter

_LISTENERS_MESSAGE = "All saving_listeners must be `CheckpointSaverListener` instances, given: {}"


class _TrainFields(NamedTuple):
    input_fn: Callable[..., Any]
    max_steps: int | None
    hooks: tuple[Hook, ...]
    saving_listeners: tuple[Listener, ...]


class TrainSpec(_TrainFields):
    """The training of `train_and_evaluate`.

    Args:
      input_fn: As for `Estimator.train`.
      max_steps: Global step to stop at; None for an unlimited number of steps, which lasts to the
        end of the input.
      hooks: SessionRunHooks for the training session of every worker.
      saving_listeners: Called before and after each checkpoint; by the chief alone.
      max_time: Seconds after which this call of train_and_evaluate stops training; the last
        evaluation and export follow. Evaluations count. By default the time is unlimited.

    Raises:
      TypeError: input_fn cannot be called, a hook is not a SessionRunHook, or a listener is not a
        CheckpointSaverListener.
      ValueError: max_steps or max_time is not positive.
    """

    max_time: float | None = None  # No field: programs unpack the fields of tf.estimator.

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        max_steps: int | None = None,
        hooks: Iterable[Hook] | None = None,
        saving_listeners: Iterable[Listener] | None = None,
        *,
        max_time: float | None = None,
    ) -> "TrainSpec":
        """Checks the arguments; hooks and listeners become tuples."""
        _check_input_fn(input_fn)
        check_positive(max_steps=max_steps, max_time=max_time)
        hooks = _check_hooks(hooks)
        listeners = check_instances(saving_listeners, Listener, _LISTENERS_MESSAGE)
        spec = super().__new__(cls, input_fn, max_steps, hooks, listeners)
        spec.max_time = max_time
        return spec

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns the arguments by keyword, for copies and pickles."""
        return (), {**self._asdict(), "max_time": self.max_time}

    def _replace(self, **changes: Any) -> "TrainSpec":
        """Returns a spec with other arguments."""
        max_time = changes.pop("max_time", self.max_time)
        spec = super()._replace(**changes)
        spec.max_time = max_time
        return spec


class _EvalFields(NamedTuple):
    input_fn: Callable[..., Any]
    steps: int | None
    name: str | None
    hooks: tuple[Hook, ...]
    exporters: tuple[Exporter, ...]
    start_delay_secs: float
    throttle_secs: float


class EvalSpec(_EvalFields):
    """An evaluation of `train_and_evaluate` and the exports after it.

    Args:
      input_fn: As for `Estimator.evaluate`.
      steps: Batches of each evaluation; None goes to the end of the input.
      name: Keeps the metrics of several evaluation sets apart: they go to `eval_<name>`.
      hooks: SessionRunHooks for the evaluation session.
      exporters: An `Exporter` or several, whose names differ, called after each evaluation.
      start_delay_secs: Seconds that an evaluator process waits before its first evaluation.
      throttle_secs: Seconds from the start of an evaluation within which no other starts, new
        checkpoints or not; the last checkpoint is always evaluated.
      every_steps: Evaluates at each multiple of so many global steps, where a checkpoint is
        written for the evaluation; throttle_secs does not count. By default evaluations follow
        checkpoints.

    Raises:
      TypeError: input_fn cannot be called, name is not a string, a hook is not a SessionRunHook, or
        an exporter is not an Exporter.
      ValueError: A number is out of its range, or exporters' names are empty or not unique.
    """

    every_steps: int | None = None  # No field: programs unpack the fields of tf.estimator.

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        steps: int | None = 100,
        name: str | None = None,
        hooks: Iterable[Hook] | None = None,
        exporters: Exporter | Iterable[Exporter] | None = None,
        start_delay_secs: float = 120,
        throttle_secs: float = 600,
        *,
        every_steps: int | None = None,
    ) -> "EvalSpec":
        """Checks the arguments; hooks and exporters become tuples."""
        _check_input_fn(input_fn)
        check_positive(steps=steps)
        check_positive(every_steps=every_steps)
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be string, given: {name}")
        for field, secs in (
            ("start_delay_secs", start_delay_secs),
            ("throttle_secs", throttle_secs),
        ):
            if secs < 0:
                raise ValueError(f"Must specify {field} >= 0, given: {secs}")
        spec = super().__new__(
            cls,
            input_fn,
            steps,
            name,
            _check_hooks(hooks),
            _check_exporters(exporters),
            start_delay_secs,
            throttle_secs,
        )
        spec.every_steps = every_steps
        return spec

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns the arguments by keyword, for copies and pickles."""
        return (), {**self._asdict(), "every_steps": self.every_steps}

    def _replace(self, **changes: Any) -> "EvalSpec":
        """Returns a spec with other arguments."""
        every_steps = changes.pop("every_steps", self.every_steps)
        spec = super()._replace(**changes)
        spec.every_steps = every_steps
        return spec


def check_specs(train_spec: object, eval_spec: Any) -> list[EvalSpec]:
    """Checks the arguments of `train_and_evaluate`; returns the EvalSpecs."""
    if not isinstance(train_spec, TrainSpec):
        raise TypeError(
            f"`train_spec` must have type `tf.estimator.TrainSpec`. Got: {type(train_spec)}"
        )
    is_sequence = isinstance(eval_spec, Sequence) and not isinstance(eval_spec, (EvalSpec, str))
    specs = list(eval_spec) if is_sequence and eval_spec else [eval_spec]
    for spec in specs:
        if not isinstance(spec, EvalSpec):
            raise TypeError(
                f"`eval_spec` must have type `tf.estimator.EvalSpec`. Got: {type(spec)}"
            )
    names = [spec.name for spec in specs]
    if len({name or None for name in names}) < len(names):
        raise ValueError(
            "EvalSpecs must have unique names, by which their metrics are kept apart. All names: "
            f"{names}"
        )
    _check_exporter_names([exporter for spec in specs for exporter in spec.exporters])
    return specs


def _check_exporter_names(exporters: Sequence[Exporter]) -> None:
    """Checks that the names of exporters differ: each names a directory.

    Raises:
      ValueError: A name is not a string, or is empty or taken.
    """
    names = [exporter.name for exporter in exporters]
    for name in names:
        if not name:
            raise ValueError(
                "An Exporter cannot have a name that is `None` or empty. "
                f"All exporter names: {names}"
            )
        if not isinstance(name, str):
            raise ValueError(f"An Exporter must have a string name. Given: {type(name)}")
    if len(set(names)) < len(names):
        raise ValueError(
            "`exporters` must have unique names. Such a name cannot be `None`. "
            f"All exporter names: {names}"
        )


def _check_input_fn(input_fn: InputFn) -> None:
    if not callable(input_fn):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn}")


def _check_hooks(hooks: Iterable[Hook] | None) -> tuple[Hook, ...]:
    return check_instances(hooks, Hook, "All hooks must be `SessionRunHook` instances, given: {}")


def _check_exporters(exporters: Exporter | Iterable[Exporter] | None) -> tuple[Exporter, ...]:
    if exporters is None:
        return ()
    if isinstance(exporters, Exporter):
        exporters = (exporters,)
    found: tuple[Any, ...]
    try:
        found = tuple(exporters)
    except TypeError:
        found = (None,)
    if not all(isinstance(exporter, Exporter) for exporter in found):
        raise TypeError(
            "`exporters` must be an Exporter, an iterable of Exporter, or `None`, found "
            f"{exporters}."
        )
    _check_exporter_names(found)
    return found
