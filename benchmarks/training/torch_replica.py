"""One process of PyTorch: `python -m benchmarks.training.torch_replica PEER MODEL [quick]`.

It is one of the workers in TF_CONFIG, has one thread, and prints its steps per second.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.training.model import (
    CLASSES,
    EXAMPLES,
    LEARNING_RATE,
    WINDOWS,
    compute_steady_rate,
)
from benchmarks.training.replicas import MARK, WORKER_MODELS


def main(_: str, name: str, *quick: str) -> None:
    """Trains and prints the speed."""
    import torch

    torch.set_num_threads(1)
    _join_group()
    model, window = WORKER_MODELS[name], WORKER_MODELS[name].window(bool(quick))
    x = torch.randn(EXAMPLES, *model.shape).permute(*_PERMUTATIONS[name]).contiguous()
    y = torch.arange(EXAMPLES) % CLASSES
    network = torch.nn.parallel.DistributedDataParallel(_MAKERS[name](torch.nn))
    optimizer = torch.optim.Adam(network.parameters(), LEARNING_RATE)
    loss = torch.nn.CrossEntropyLoss()
    marks = []
    for step in range(window * WINDOWS + 1):
        start = step * model.batch % EXAMPLES
        rows = slice(start, start + model.batch)
        optimizer.zero_grad()
        loss(network(x[rows]), y[rows]).backward()
        optimizer.step()
        if step % window == 0:
            marks.append((step, time.perf_counter()))
    print(MARK, compute_steady_rate(marks, window), flush=True)
    torch.distributed.destroy_process_group()


def _join_group() -> None:
    import torch

    config = json.loads(os.environ["TF_CONFIG"])
    workers, rank = config["cluster"]["worker"], config["task"]["index"]
    torch.distributed.init_process_group(
        "gloo", f"tcp://{workers[0]}", rank=rank, world_size=len(workers)
    )


def _make_mlp(nn: Any) -> Any:
    return nn.Sequential(
        *(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, CLASSES))
    )


def _make_convolutions(nn: Any) -> Any:
    """Returns convolutions with strides 2 that pad 28 and 14 pixels as TensorFlow's "SAME" does."""
    return nn.Sequential(
        nn.ZeroPad2d((1, 2, 1, 2)),
        nn.Conv2d(1, 8, 5, 2, bias=False),
        nn.ReLU(),
        nn.ZeroPad2d((1, 2, 1, 2)),
        nn.Conv2d(8, 16, 5, 2, bias=False),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(7 * 7 * 16, CLASSES, bias=False),
    )


_MAKERS: dict[str, Callable[[Any], Any]] = {
    "mlp": _make_mlp,
    "convolutions": _make_convolutions,
}
# PyTorch's convolutions take channels first.
_PERMUTATIONS = {"mlp": (0, 1), "convolutions": (0, 3, 1, 2)}

if __name__ == "__main__":
    main(*sys.argv[1:])
