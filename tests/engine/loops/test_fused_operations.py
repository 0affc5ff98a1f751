"""Loops of operations that TensorFlow fuses have the values of single steps, on any processor."""

from __future__ import annotations

import itertools
import json
import os
import sys
from pathlib import Path

import pytest
from processes import run_process
from tiers import of_commit

SUPPORT = Path(__file__).parents[2] / "support"
ALL = [
    "convolution",
    "residual",
    "padded",
    "depthwise",
    "separable",
    "transposed",
    "3-D",
    "pooling",
    "batch normalization",
    "dense",
]
# XLA and the fused form of this layer's GELU round differently.
ROUNDED = ("XLA", "dense")


def run_models(onednn: str, isa: str, threads: int, models: list[str], xla: bool) -> None:
    """Compares loops with single steps in a new process, which oneDNN's variables configure."""
    environment = {**os.environ, "PYTHONPATH": str(SUPPORT.parents[1]), "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment |= {"TF_ENABLE_ONEDNN_OPTS": onednn} | ({"ONEDNN_MAX_CPU_ISA": isa} if isa else {})
    arguments = json.dumps({"models": models, "threads": threads, "xla": xla})
    command = [sys.executable, SUPPORT / "fused_models.py", arguments]
    found = json.loads(run_process(command, env=environment).stdout.splitlines()[-1])
    assert len(found) == len(models) * (3 if xla else 2)
    for case, differences in found.items():
        limit = 1e-6 if any(word in case for word in ROUNDED) else 0
        assert max(differences.values()) <= limit, (case, differences)


def test_a_convolution_with_onednn() -> None:
    """oneDNN is off by default on older processors."""
    run_models("1", "", 2, ["convolution"], xla=False)


@pytest.mark.long
@pytest.mark.parametrize(
    ("onednn", "isa", "threads"),
    of_commit(3, itertools.product("01", ["SSE41", "AVX2", "AVX512_CORE"], [1, 2])),
)
def test_all_models(onednn: str, isa: str, threads: int) -> None:
    run_models(onednn, isa, threads, ALL, xla=threads == 2)
