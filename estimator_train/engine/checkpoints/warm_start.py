"""Warm start: initial values of variables from another checkpoint."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import tensorflow as tf

from estimator_train.engine.checkpoints.integrity import latest_checkpoint, was_replaced
from estimator_train.engine.types import Hook, PassiveHook

VocabInfo = tf.compat.v1.train.VocabInfo

_LOG = tf.get_logger()
_ALL = ".*"
_Result = TypeVar("_Result")


class _Fields(NamedTuple):
    ckpt_to_initialize_from: str
    vars_to_warm_start: str | Sequence[Any] | None
    var_name_to_vocab_info: Mapping[str, Any]
    var_name_to_prev_var_name: Mapping[str, str]


class WarmStartSettings(_Fields):
    """Which variables start from which checkpoint.

    Args:
      ckpt_to_initialize_from: A checkpoint's path prefix, a directory with checkpoints, of which
        the latest is used, or an exported SavedModel's directory.
      vars_to_warm_start: A regular expression, or a list of regular expressions, for trainable
        variables; a list of variable names or variables for any variables; or None for only the
        variables in `var_name_to_vocab_info`.
      var_name_to_vocab_info: Variable name to the `VocabInfo` by which its rows are matched.
      var_name_to_prev_var_name: Variable name to its name in the checkpoint, where they differ.

    Raises:
      ValueError: There is no checkpoint to start from.
    """

    __slots__ = ()

    def __new__(
        cls,
        ckpt_to_initialize_from: str,
        vars_to_warm_start: str | Sequence[Any] | None = _ALL,
        var_name_to_vocab_info: Mapping[str, Any] | None = None,
        var_name_to_prev_var_name: Mapping[str, str] | None = None,
    ) -> "WarmStartSettings":
        """Checks that there is a checkpoint, and fills in empty mappings."""
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        return super().__new__(
            cls,
            ckpt_to_initialize_from,
            vars_to_warm_start,
            var_name_to_vocab_info or {},
            var_name_to_prev_var_name or {},
        )


def make_settings(
    warm_start_from: str | os.PathLike[str] | WarmStartSettings,
) -> WarmStartSettings:
    """Turns an estimator's `warm_start_from` argument into settings.

    Args:
      warm_start_from: Settings, a checkpoint's path, a directory with checkpoints, an exported
        SavedModel's directory.

    Raises:
      ValueError: It is something else.
    """
    if isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from
    if not isinstance(warm_start_from, (str, bytes, os.PathLike)):
        raise ValueError(
            "warm_start_from must be a string or a WarmStartSettings, instead got "
            f"{type(warm_start_from)}"
        )
    path = os.fsdecode(warm_start_from)
    if tf.compat.v1.saved_model.contains_saved_model(path):
        _LOG.info("Warm-starting from a SavedModel")
        path = _find_saved_variables(path)
    return WarmStartSettings(ckpt_to_initialize_from=path)


def _find_saved_variables(directory: str) -> str:
    """Returns the path prefix of the variables of a SavedModel."""
    names = tf.compat.v1.saved_model.constants
    return os.path.join(directory, names.VARIABLES_DIRECTORY, names.VARIABLES_FILENAME)


def find_source(settings: WarmStartSettings | None) -> str | None:
    """Returns the checkpoint of a warm start; None without settings or checkpoint."""
    if settings is None:
        return None
    source = os.fsdecode(settings.ckpt_to_initialize_from)
    if not tf.io.gfile.isdir(source):
        return source
    found = latest_checkpoint(source)
    if found is None and tf.compat.v1.saved_model.contains_saved_model(source):
        return _find_saved_variables(source)
    return found


def apply(settings: WarmStartSettings, checkpoint_path: str | None) -> None:
    """Makes the default graph's variables initialize from the checkpoint in the settings.

    Args:
      settings: The checkpoint and the variables of the warm start.
      checkpoint_path: A checkpoint that the session restores; with it there is no warm start.

    Raises:
      ValueError: A vocabulary file has another size than its VocabInfo, or the checkpoint lacks a
        variable that the settings name.
      TypeError: The directory in the settings has no checkpoint; tf.estimator raises this type.
    """
    if checkpoint_path is not None:
        return
    source = find_source(settings)
    named = os.fsdecode(settings.ckpt_to_initialize_from)
    if source is None:
        raise TypeError(
            f"warm_start_from needs a checkpoint, but the directory {named} contains neither a "
            "checkpoint nor a SavedModel. Name a directory in which a training has ended."
        )
    # TensorFlow reads a directory itself, and logs its name, unless the latest one is damaged.
    is_latest = source != named and source == tf.train.latest_checkpoint(named)
    settings = settings._replace(ckpt_to_initialize_from=named if is_latest else source)
    _LOG.info("Warm-starting with WarmStartSettings: %s", settings)
    _warn_of_unmatched_patterns(settings.vars_to_warm_start)
    _check_vocabularies(settings)
    infos = settings.var_name_to_vocab_info.items()
    settings = settings._replace(
        var_name_to_vocab_info={name: _fill_unknown_shapes(info) for name, info in infos}
    )
    tf.compat.v1.train.warm_start(*settings)


def _fill_unknown_shapes(info: Any) -> Any:
    """Returns a VocabInfo whose constant initializer takes the shape of the missing rows.

    TensorFlow passes a shape that is known only in the session; constant initializers raise
    NotImplementedError for it.
    """
    constants = tf.constant_initializer, tf.compat.v1.constant_initializer
    initializer = info.backup_initializer
    if not isinstance(initializer, constants) or np.ndim(initializer.value):
        return info

    def fill(shape: Any, dtype: tf.DType = tf.float32, **_: Any) -> tf.Tensor:
        return tf.fill(shape, tf.cast(initializer.value, dtype))

    return info._replace(backup_initializer=fill)


class _VariablesReadyHook(PassiveHook):
    """Hook that records when the variables have their initial values."""

    is_ready = False

    def after_create_session(
        self, session: tf.compat.v1.Session, coord: tf.train.Coordinator
    ) -> None:
        """Records that the variables have their values."""
        self.is_ready = True


def train_with_retry(
    settings: WarmStartSettings,
    train: Callable[[list[Hook]], _Result],
) -> _Result:
    """Trains; trains again from a later checkpoint if the source was deleted before it was read.

    Another job may train in the source directory, and keep only the last few checkpoints.

    Args:
      settings: The checkpoint and the variables of the warm start.
      train: Trains with these additional hooks.

    Returns:
      The value that `train` returns.
    """
    source = os.fsdecode(settings.ckpt_to_initialize_from)
    while True:
        found = latest_checkpoint(source) if tf.io.gfile.isdir(source) else None
        variables_ready = _VariablesReadyHook()
        try:
            return train([variables_ready])
        except (tf.errors.OpError, ValueError, OSError):
            if variables_ready.is_ready or found is None or not was_replaced(found):
                raise
            _LOG.info("%s was deleted before it was read; starting from a later one.", found)


def _warn_of_unmatched_patterns(patterns: str | Sequence[Any] | None) -> None:
    """Warns of patterns that match no variable: training would start from scratch silently."""
    if patterns is None or patterns == _ALL:
        return
    if isinstance(patterns, str):
        variables, patterns = tf.compat.v1.trainable_variables(), [patterns]
    else:
        variables = tf.compat.v1.global_variables()
    for pattern in patterns:
        if isinstance(pattern, str) and not any(re.match(pattern, v.name) for v in variables):
            _LOG.warning(
                "vars_to_warm_start has the pattern '%s', which matches none of the variables %s.",
                pattern,
                sorted(variable.op.name for variable in variables),
            )


def _check_vocabularies(settings: WarmStartSettings) -> None:
    """Compares the sizes of vocabulary files with the sizes in VocabInfo."""
    if not settings.var_name_to_vocab_info:
        return
    saved = dict(tf.train.list_variables(settings.ckpt_to_initialize_from))
    for name, info in settings.var_name_to_vocab_info.items():
        _check_lines(name, "new_vocab", info.new_vocab, info.new_vocab_size)
        lines = _check_lines(name, "old_vocab", info.old_vocab, max(1, info.old_vocab_size))
        words = lines if info.old_vocab_size < 0 else info.old_vocab_size
        shape = saved.get(settings.var_name_to_prev_var_name.get(name, name))
        if shape is not None and info.axis == 1:
            _warn_of_missing_columns(name, info, shape[1])
        elif shape is not None and words > shape[info.axis]:
            _LOG.warning(
                "VocabInfo of '%s': old_vocab (%s) has %d entries, but the variable in %s has the "
                "shape %s. Words beyond the shape get initial values; if another file was used in "
                "the training, name that file.",
                name,
                info.old_vocab,
                words,
                settings.ckpt_to_initialize_from,
                shape,
            )


def _warn_of_missing_columns(variable: str, info: Any, columns: int) -> None:
    """Warns of words in both vocabularies that have no column in the checkpoint.

    TensorFlow ignores old_vocab_size for columns, and reads memory behind the variable for a word
    without a column.
    """
    with tf.io.gfile.GFile(info.old_vocab, "rb") as file:
        without_column = [line.rstrip(b"\r\n") for line in file][columns:]
    with tf.io.gfile.GFile(info.new_vocab, "rb") as file:
        new = [line.rstrip(b"\r\n") for line in file][: info.new_vocab_size]
    words = set(without_column).intersection(new)
    if words:
        word = min(words)
        line = columns + without_column.index(word) + 1
        _LOG.warning(
            "VocabInfo of '%s': old_vocab (%s) has the word %r in line %d, but the variable in the "
            "checkpoint has %d columns, and old_vocab_size has no effect with axis=1. TensorFlow "
            "gives such words arbitrary weights. Name a file with %d lines.",
            variable,
            info.old_vocab,
            word.decode(errors="replace"),
            line,
            columns,
            columns,
        )


def _check_lines(variable: str, field: str, path: str, needed: int) -> int:
    with tf.io.gfile.GFile(path, "rb") as file:
        lines = sum(1 for _ in file)
    if lines < needed:
        raise ValueError(
            f"VocabInfo of '{variable}': {field} ({path}) has {lines} lines, but {needed} are "
            f"needed by {field}_size."
        )
    return lines
