"""Warm start: first values of variables from another checkpoint."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

VocabInfo = tf.compat.v1.train.VocabInfo

_LOG = tf.get_logger()


class _Fields(NamedTuple):
    ckpt_to_initialize_from: str
    vars_to_warm_start: str | Sequence[Any] | None
    var_name_to_vocab_info: Mapping[str, Any]
    var_name_to_prev_var_name: Mapping[str, str]


class WarmStartSettings(_Fields):
    """Which variables start from which checkpoint.

    Args:
      ckpt_to_initialize_from: A checkpoint's path prefix, or a directory with checkpoints, of which
        the latest is taken.
      vars_to_warm_start: A regular expression (or a list of them) for trainable variables; a list
        of variable names or variables for any variables; or None for only those named in
        `var_name_to_vocab_info`.
      var_name_to_vocab_info: Variable name to the `VocabInfo` by which its rows are matched.
      var_name_to_prev_var_name: Variable name to its name in the checkpoint, where they differ.

    Raises:
      ValueError: There is no checkpoint to start from.
    """

    __slots__ = ()

    def __new__(
        cls,
        ckpt_to_initialize_from: str,
        vars_to_warm_start: str | Sequence[Any] | None = ".*",
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


def settings_from(
    warm_start_from: str | os.PathLike[str] | WarmStartSettings | None,
) -> WarmStartSettings | None:
    """Turns an estimator's `warm_start_from` argument into settings.

    Args:
      warm_start_from: Settings, a checkpoint's path, a directory with checkpoints, an exported
        SavedModel's directory, or None.

    Raises:
      ValueError: It is something else.
    """
    if warm_start_from is None or isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from
    if not isinstance(warm_start_from, (str, bytes, os.PathLike)):
        raise ValueError(
            "warm_start_from must be a string or a WarmStartSettings, instead got "
            f"{type(warm_start_from)}"
        )
    path = os.fsdecode(warm_start_from)
    if tf.compat.v1.saved_model.contains_saved_model(path):
        _LOG.info("Warm-starting from a SavedModel")
        path = os.path.join(
            path,
            tf.compat.v1.saved_model.constants.VARIABLES_DIRECTORY,
            tf.compat.v1.saved_model.constants.VARIABLES_FILENAME,
        )
    return WarmStartSettings(ckpt_to_initialize_from=path)


def apply(settings: WarmStartSettings) -> None:
    """Makes the default graph's variables initialize from `settings`' checkpoint."""
    _LOG.info("Warm-starting with WarmStartSettings: %s", settings)
    tf.compat.v1.train.warm_start(*settings)
