"""Writes predictions to Parquet files in parts, and continues after the last complete part."""

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_train import remote
from estimator_train.cli.output.errors import UsageError
from estimator_train.cli.output.whole_files import open_atomically, replace_file

_MIN_ROWS = 200_000  # Rows of a part.
_SHARD = re.compile(r"shard-\d+-of-(\d+)[.-]")


class ParquetParts:
    """Writer of the predictions of one shard.

    The parts of shard 1 of 5 are `shard-1-of-5-part-0.parquet` and so on. The resume file
    `shard-1-of-5.json` has the number of complete parts. A part that was written after it is
    written again, under the same name.

    Args:
      folder: Folder of the files, which is created.
      shard: Index of the shard, from 0.
      num_shards: Number of shards.
      job: What the predictions depend on, such as the checkpoint; a shard that was begun with
        other values is refused.

    Raises:
      ImportError: pyarrow is not installed.
      UsageError: The resume file belongs to another job, or the folder has shards of another
        number of shards.
    """

    def __init__(self, folder: str, shard: int, num_shards: int, job: Mapping[str, Any]) -> None:
        try:
            import pyarrow  # noqa: F401
        except ImportError as error:
            raise ImportError(
                "--format=parquet needs the package pyarrow: pip install 'estimator-train[arrow]'."
            ) from error
        remote.prepare_path(folder, "output")
        tf.io.gfile.makedirs(folder)
        _check_shards(folder, num_shards)
        self._prefix = os.path.join(folder, f"shard-{shard}-of-{num_shards}")
        self._job = dict(job)
        self.batches, self._parts, self.is_complete = 0, 0, False
        if tf.io.gfile.exists(f"{self._prefix}.json"):
            with tf.io.gfile.GFile(f"{self._prefix}.json") as file:
                state = json.load(file)
            old = state["job"]
            changes = [
                f"{name} was {old.get(name)!r}, now it is {value!r}"
                for name, value in self._job.items()
                if old.get(name) != value
            ]
            if changes:
                raise UsageError(
                    f"{self._prefix}.json belongs to other predictions: {'; '.join(changes)}. "
                    f"Choose another --output, or remove {self._prefix}*."
                )
            self.batches, self._parts = state["batches"], state["parts"]
            self.is_complete = state["is_complete"]

    def write(self, batches: Iterable[Mapping[str, Any]]) -> None:
        """Writes the batches that follow those of the complete parts.

        Args:
          batches: The results of `Estimator.predict(..., yield_single_examples=False)`.
        """
        import pyarrow as pa

        tables: list[pa.Table] = []
        rows = 0
        for batch in batches:
            tables.append(_to_table(batch))
            rows += tables[-1].num_rows
            self.batches += 1
            if rows >= _MIN_ROWS:
                self._write_part(tables)
                tables, rows = [], 0
        if tables:
            self._write_part(tables)
        self.is_complete = True
        self._write_state()

    def _write_part(self, tables: "list[Any]") -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        with replace_file(f"{self._prefix}-part-{self._parts}.parquet") as unfinished:
            pq.write_table(pa.concat_tables(tables), unfinished)
        self._parts += 1
        self._write_state()

    def _write_state(self) -> None:
        state = {
            "batches": self.batches,
            "parts": self._parts,
            "is_complete": self.is_complete,
            "job": self._job,
        }
        with open_atomically(f"{self._prefix}.json") as file:
            json.dump(state, file)


def _check_shards(folder: str, num_shards: int) -> None:
    """Raises UsageError if a folder has shards of another number of shards.

    A reader of the whole folder would find their rows twice.
    """
    for path in sorted(tf.io.gfile.glob(os.path.join(folder, "shard-*-of-*"))):
        found = _SHARD.match(os.path.basename(path))
        if found and int(found[1]) != num_shards:
            raise UsageError(
                f"--num_shards={num_shards}: {path} is of {found[1]} shards, with the same rows. "
                "Choose another --output, or remove the shards in this one."
            )


def _to_table(batch: Any) -> Any:
    import pyarrow as pa

    named = batch if isinstance(batch, Mapping) else {"predictions": batch}
    return pa.table({name: _to_column(name, np.asarray(values)) for name, values in named.items()})


def _to_column(name: str, values: np.ndarray) -> Any:
    """Returns an Arrow array; each further dimension becomes a fixed-size list."""
    import pyarrow as pa

    flat = values.reshape(-1)
    if values.dtype.hasobject:
        column = pa.array([_decode(name, value) for value in flat], pa.string())
    else:
        column = pa.array(flat)
    for size in values.shape[:0:-1]:
        column = pa.FixedSizeListArray.from_arrays(column, size)
    return column


def _decode(name: str, value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise UsageError(
            f"The predictions {name!r} have bytes that are not UTF-8: {value[:40]!r}. Return "
            "tf.io.encode_base64 of them from the model, or choose others with --predict_keys."
        ) from error
