"""Hyperparameters of `tf.contrib.model_pruning`, and the checks of their values."""

import re
from collections.abc import Sequence

from tf_contrib.training.hparams import HParams


def get_pruning_hparams() -> HParams:
    """Returns the default hyperparameters of `Pruning`.

    Returns:
      HParams with these values:
        name: Prefix of the names of operations and summaries.
        begin_pruning_step, end_pruning_step: Global steps between which masks are updated;
          -1: until training ends.
        weight_sparsity_map: Entries `regex:sparsity`, the target sparsity of the weights whose
          name contains a match.
        block_dims_map: Entries `regex:HEIGHTxWIDTH`, the sizes of blocks of these weights.
        threshold_decay: Share of the old threshold in a new one, in [0, 1).
        pruning_frequency: Number of global steps between two updates of the masks.
        nbins: Unused.
        block_height, block_width: Size of the blocks of weights of two dimensions that are masked
          together; -1: the size of the weights.
        block_pooling_function: AVG or MAX: the value of a block.
        initial_sparsity, target_sparsity: Share of masked weights before and after the schedule.
        sparsity_function_begin_step, sparsity_function_end_step: Global steps between which the
          sparsity changes.
        sparsity_function_exponent: Exponent of the schedule.
        use_tpu: Unused: the updates are the same.
    """
    return HParams(
        name="model_pruning",
        begin_pruning_step=0,
        end_pruning_step=-1,
        weight_sparsity_map=[""],
        block_dims_map=[""],
        threshold_decay=0.0,
        pruning_frequency=10,
        nbins=256,
        block_height=1,
        block_width=1,
        block_pooling_function="AVG",
        initial_sparsity=0.0,
        target_sparsity=0.5,
        sparsity_function_begin_step=0,
        sparsity_function_end_step=100,
        sparsity_function_exponent=3.0,
        use_tpu=False,
    )


def check_hparams(spec: HParams) -> None:
    """Checks the steps and shares of hyperparameters.

    Raises:
      ValueError: A value is outside of its range.
    """
    if spec.begin_pruning_step < 0:
        raise ValueError("Illegal value for begin_pruning_step")
    if spec.begin_pruning_step >= spec.end_pruning_step != -1:
        raise ValueError(
            "Pruning must begin before it can end. begin_step="
            f"{spec.begin_pruning_step}, end_step={spec.end_pruning_step}."
            "Set end_pruning_step to -1 if pruning is required till trainingstops"
        )
    if spec.sparsity_function_begin_step < 0:
        raise ValueError("Illegal value for sparsity_function_begin_step")
    if spec.sparsity_function_begin_step >= spec.sparsity_function_end_step:
        raise ValueError("Sparsity function requires begin_step < end_step")
    for name in ("threshold_decay", "initial_sparsity", "target_sparsity"):
        if not 0 <= getattr(spec, name) < 1:
            raise ValueError(f"{name} must be in range [0,1)")


def parse_weight_sparsity_map(entries: Sequence[str]) -> dict[re.Pattern[str], float]:
    """Returns the target sparsity of each regular expression.

    Args:
      entries: Texts such as `layer1/weights:0.5`; empty ones are ignored.

    Raises:
      ValueError: An entry has another form, or a sparsity is 1 or more.
    """
    sparsities = {}
    for entry in filter(None, entries):
        pattern, value = _split_entry("weight_sparsity_map", "0.5", entry)
        if float(value) >= 1:
            raise ValueError("Weight sparsity can not exceed 1.0")
        sparsities[re.compile(pattern)] = float(value)
    return sparsities


def parse_block_dims_map(entries: Sequence[str]) -> dict[re.Pattern[str], list[int]]:
    """Returns the height and width of blocks of each regular expression.

    Args:
      entries: Texts such as `layer1/weights:2x4`; empty ones are ignored.

    Raises:
      ValueError: An entry has another form.
    """
    sizes = {}
    for entry in filter(None, entries):
        pattern, value = _split_entry("block_dims_map", "2x2", entry)
        dims = value.split("x")
        if len(dims) != 2:
            raise ValueError(f"Expected 2 values for block dim for {pattern}, got {dims}")
        sizes[re.compile(pattern)] = [int(size) for size in dims]
    return sizes


def _split_entry(name: str, example: str, entry: str) -> list[str]:
    parts = entry.split(":")
    if len(parts) != 2:
        raise ValueError(f"Entries of {name} must be like 'weights:{example}', got {entry!r}")
    return parts
