"""Speed of PyTorch: the click model, with a DataLoader over the batches of pyarrow."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.click_job import BATCH, CROSS, EMBEDDING, FEATURES, HIDDEN, SHUFFLED, ClickJob

_RATE = 0.05
_HASH = 1_000_003
_NAMES = [f"c{number}" for number in range(FEATURES)]


def train_by_torch(job: ClickJob, folder: Path, steps: int) -> float:
    """Returns the steps per second from the Parquet file of a folder."""
    import torch

    class Rows(torch.utils.data.IterableDataset):
        """Shuffled batches of the file, without an end."""

        def __iter__(self) -> Iterator[Any]:
            return _read_batches(folder)

    # Batches are ready before they leave the dataset; a process for it was slower on two cores.
    batches = iter(torch.utils.data.DataLoader(Rows(), batch_size=None))
    model = _make_model(job)
    optimizer = torch.optim.Adagrad(model.parameters(), _RATE)
    loss = torch.nn.BCEWithLogitsLoss()
    marks = []
    for _ in range(steps):
        ids, clicks = next(batches)
        optimizer.zero_grad()
        loss(model(ids), clicks).backward()
        optimizer.step()
        marks.append(time.perf_counter())
    return (steps - 1) / (marks[-1] - marks[0])


def _read_batches(folder: Path) -> Iterator[Any]:
    """Yields ids, int64 [batch, features], and clicks, float32 [batch]."""
    import numpy as np
    import pyarrow.parquet as pq
    import torch

    random = np.random.default_rng(0)
    while True:
        file = pq.ParquetFile(folder / "rows.parquet")
        for block in file.iter_batches(SHUFFLED):
            ids = np.stack([block[name].to_numpy() for name in _NAMES], 1)
            clicks = block["click"].to_numpy().astype(np.float32)
            order = random.permutation(len(ids))
            for start in range(0, len(ids) - BATCH + 1, BATCH):
                rows = order[start : start + BATCH]
                yield torch.from_numpy(ids[rows]), torch.from_numpy(clicks[rows])


def _make_model(job: ClickJob) -> Any:
    """Returns the model; its embeddings have sparse gradients."""
    import torch

    class Model(torch.nn.Module):
        """Wide and deep model of ids."""

        def __init__(self) -> None:
            super().__init__()
            # One table for all features; the ids of each begin after those of the one before.
            self.first = torch.arange(FEATURES) * job.ids
            self.wide = torch.nn.Embedding(FEATURES * job.ids, 1, sparse=True)
            self.cross = torch.nn.Embedding(CROSS, 1, sparse=True)
            self.deep = torch.nn.Embedding(FEATURES * job.ids, EMBEDDING, sparse=True)
            sizes = [FEATURES * EMBEDDING, *HIDDEN]
            layers: list[Any] = []
            for size, units in zip(sizes, HIDDEN, strict=False):
                layers += [torch.nn.Linear(size, units), torch.nn.ReLU()]
            self.dense = torch.nn.Sequential(*layers, torch.nn.Linear(HIDDEN[-1], 1))

        def forward(self, ids: Any) -> Any:
            places = ids + self.first
            crossed = self.cross((ids[:, 0] * _HASH + ids[:, 1]) % CROSS)
            deep = self.dense(self.deep(places).flatten(1))
            return (self.wide(places).sum(1) + crossed + deep)[:, 0]

    return Model()
