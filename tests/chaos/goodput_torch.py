"""The model of `goodput_job.py` in PyTorch, for torchrun: `goodput_torch.py MODEL_DIR SECS`."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import distributed, nn

SAVE_SECS = 3
WRITE_SECS = 0.1
BATCH = 16


def restore(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> int:
    """Restores the checkpoint, if there is one, and returns its step."""
    if not path.exists():
        return 0
    state: dict[str, Any] = torch.load(path)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return int(state["step"])


def main() -> None:
    directory, end = Path(sys.argv[1]), float(sys.argv[2])
    rank = int(os.environ["RANK"])
    (directory / f"rank-{rank}.pid").write_text(str(os.getpid()))
    torch.set_num_threads(1)
    torch.manual_seed(0)
    distributed.init_process_group("gloo")
    model = nn.Sequential(
        nn.Conv2d(1, 8, 5, 2, 2),
        nn.ReLU(),
        nn.Conv2d(8, 16, 5, 2, 2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(7 * 7 * 16, 10),
    )
    optimizer = torch.optim.Adam(model.parameters())
    path = directory / "checkpoint.pt"
    step = restore(path, model, optimizer)
    parallel = nn.parallel.DistributedDataParallel(model)
    random = np.random.RandomState(0)
    images = torch.tensor(random.rand(512, 1, 28, 28), dtype=torch.float32)
    labels = torch.tensor(random.randint(0, 10, 512))
    file = (directory / f"rank-{rank}.steps").open("a", buffering=1)
    written, saved = 0.0, time.monotonic()
    while True:
        at = step * BATCH % 512
        optimizer.zero_grad()
        output = parallel(images[at : at + BATCH])
        nn.functional.cross_entropy(output, labels[at : at + BATCH]).backward()
        optimizer.step()
        step += 1
        now = time.time()
        if now - written > WRITE_SECS:
            file.write(f"{now} {step}\n")
            written = now
        is_over = torch.tensor(float(now > end))
        if step % 20 == 0:  # All ranks end after the same step.
            distributed.all_reduce(is_over)
            if is_over:
                break
        if rank == 0 and time.monotonic() - saved > SAVE_SECS:
            saved = time.monotonic()
            state = {
                "model": model.state_dict(),
                "optimizer": optimizer.state_dict(),
                "step": step,
            }
            torch.save(state, path.with_suffix(".tmp"))
            path.with_suffix(".tmp").rename(path)


if __name__ == "__main__":
    main()
