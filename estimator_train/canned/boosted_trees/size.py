"""Check that trees fit into memory."""

from __future__ import annotations

import os

from estimator_train.canned.boosted_trees.ensemble import count_bytes
from estimator_train.canned.boosted_trees.settings import Settings


def check_size(settings: Settings, buckets: int, logits: int) -> None:
    """Checks that the trees and the sums of a layer fit into this machine's memory.

    Args:
      settings: Settings of the trees: their number and depth are read.
      buckets: Number of buckets of all features.
      logits: Number of logits.

    Raises:
      ValueError: They do not fit; the message names their size and that of the memory.
    """
    # Sums, running sums, sums of both sides, and gains.
    sums = 2 ** (settings.max_depth - 1) * buckets * (logits + logits**2) * 8 * 6
    needed = count_bytes(settings.n_trees, settings.max_depth, logits) + sums
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > memory:
        raise ValueError(
            f"max_depth={settings.max_depth} takes {needed / 2**30:,.0f} GiB of memory for "
            f"{settings.n_trees} trees of {buckets} buckets, and there are {memory / 2**30:,.0f}. "
            "Each level doubles it: trees of 4 to 10 levels are usual."
        )
