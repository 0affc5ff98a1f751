"""Writes predictions to Parquet files in parts, and continues after the last complete part."""

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from estimator_train import remote
from estimator_train.cli.errors import UsageError
from estimator_train.cli.results import remove_unfinished, replace_file

if TYPE_CHECKING:
    import pyarrow as pa

_MIN_ROWS = 200_000  # Rows of a part.
_STATE = b"estimator_train"  # Key of the metadata of a file.
_SHARD = re.compile(r"shard-\d+-of-(\d+)[.-]")


class ParquetParts:
    """Writer of the predictions of one shard.

    The parts of shard 1 of 5 are `shard-1-of-5-part-0.parquet` and so on. The metadata of each says
    what it depends on and how many batches it ends after, so that the folder has no other files:
    readers of tables take a folder for one table.

    Args:
      folder: Folder of the files, which is created.
      shard: Index of the shard, from 0.
      num_shards: Number of shards.
      job: What the predictions depend on, such as the checkpoint; a shard that was begun with
        other values is refused.

    Raises:
      ImportError: pyarrow is not installed.
      UsageError: The parts belong to another job, or the folder has shards of another number of
        shards.
    """

    def __init__(self, folder: str, shard: int, num_shards: int, job: Mapping[str, Any]) -> None:
        try:
            import pyarrow  # noqa: F401
        except ImportError as error:
            raise ImportError(
                "--format=parquet needs the package pyarrow: pip install 'estimator-train[arrow]'."
            ) from error
        remote.check_output_directory(folder)
        tf.io.gfile.makedirs(folder)
        _check_shards(folder, num_shards)
        self._prefix = os.path.join(folder, f"shard-{shard}-of-{num_shards}-part-")
        self._job = dict(job)
        self.batches, self._parts, self.is_complete = 0, 0, False
        self._schema: pa.Schema | None = None
        remove_unfinished(self._prefix)
        names = {*tf.io.gfile.listdir(folder)}
        while os.path.basename(self._name_part(self._parts)) in names:
            self._parts += 1
        if self._parts:
            self._continue_after(self._name_part(self._parts - 1))

    def _name_part(self, number: int) -> str:
        return f"{self._prefix}{number}.parquet"

    def _continue_after(self, last_part: str) -> None:
        """Reads how far the predictions of an earlier process are.

        Raises:
          UsageError: They are of another job.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        advice = f"Choose another --output, or remove {self._prefix}*."
        try:
            with tf.io.gfile.GFile(last_part, "rb") as file:
                file.closed = False  # Arrow asks a file for it, and TensorFlow's has none.
                metadata = pq.read_metadata(file)
                state = json.loads(metadata.metadata[_STATE])
        except (pa.ArrowInvalid, KeyError, TypeError) as error:
            raise UsageError(f"{last_part} is not a part of predictions. {advice}") from error
        old = state["job"]
        changes = [
            f"{name} was {old.get(name)!r}, now it is {value!r}"
            for name, value in self._job.items()
            if old.get(name) != value
        ]
        if changes:
            raise UsageError(
                f"{last_part} belongs to other predictions: {'; '.join(changes)}. {advice}"
            )
        self.batches, self.is_complete = state["batches"], state["is_complete"]
        self._schema = metadata.schema.to_arrow_schema()

    def write(self, batches: Iterable[Mapping[str, Any]]) -> None:
        """Writes the batches that follow those of the parts.

        Args:
          batches: The results of `Estimator.predict(..., yield_single_examples=False)`.

        Raises:
          UsageError: A batch has values that Parquet does not have, or another shape than those
            before it.
        """
        import pyarrow as pa

        tables: list[pa.Table] = []
        rows = 0
        for batch in batches:
            # A part waits for the batch after it: the last one says that it is the last.
            if rows >= _MIN_ROWS:
                self._write_part(tables)
                tables, rows = [], 0
            table = _to_table(batch)
            self._schema = self._schema or table.schema
            _check_types(table.schema, self._schema)
            tables.append(table)
            rows += tables[-1].num_rows
            self.batches += 1
        self.is_complete = True
        if tables:
            self._write_part(tables)

    def _write_part(self, tables: "list[Any]") -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        state = {"batches": self.batches, "is_complete": self.is_complete, "job": self._job}
        table = pa.concat_tables(tables)
        metadata = {**(table.schema.metadata or {}), _STATE: json.dumps(state).encode()}
        with replace_file(self._name_part(self._parts)) as unfinished:
            pq.write_table(table.replace_schema_metadata(metadata), unfinished)
        self._parts += 1


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


def _check_types(schema: "pa.Schema", expected: "pa.Schema") -> None:
    """Raises UsageError if the columns of a batch are not those of the batches before it."""
    if {*schema.names} != {*expected.names}:
        raise UsageError(
            f"The predictions are {schema.names}, and {expected.names} in the part before. Choose "
            "another --output."
        )
    for field in schema:
        before = expected.field(field.name).type
        if field.type != before:
            raise UsageError(
                f"The predictions {field.name!r} are {field.type} in a batch, and {before} in one "
                "before it, but a column has one type. Pad them to the same size in the model, or "
                "use --format=json."
            )


def _to_table(batch: Any) -> "pa.Table":
    import pyarrow as pa

    named = batch if isinstance(batch, Mapping) else {"predictions": batch}
    arrays = {name: np.asarray(values) for name, values in named.items()}
    rows = max(array.shape[0] if array.ndim else 0 for array in arrays.values())
    for name, array in arrays.items():
        if array.shape[:1] != (rows,):
            raise UsageError(
                f"The predictions {name!r} of a batch have the shape {array.shape}, expected one "
                "value for each example. Choose others with --predict_keys."
            )
    return pa.table({name: _to_column(name, array) for name, array in arrays.items()})


def _to_column(name: str, values: np.ndarray) -> Any:
    """Returns an Arrow array; each further dimension becomes a fixed-size list.

    Raises:
      UsageError: Arrow has no such values.
    """
    import pyarrow as pa

    if values.dtype == tf.bfloat16.as_numpy_dtype:
        values = values.astype(np.float32)  # It has the same values.
    flat = values.reshape(-1)
    try:
        if values.dtype.hasobject:
            column = pa.array([_decode(name, value) for value in flat], pa.string())
        else:
            column = pa.array(flat)
        for size in values.shape[:0:-1]:
            column = pa.FixedSizeListArray.from_arrays(column, size)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        raise UsageError(
            f"The predictions {name!r}, {values.dtype} of the shape {values.shape}, cannot be "
            f"written to Parquet: {error}. Choose others with --predict_keys."
        ) from error
    return column


def _decode(name: str, value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise UsageError(
            f"The predictions {name!r} have bytes that are not UTF-8: {value[:40]!r}. Return "
            "tf.io.encode_base64 of them from the model, or choose others with --predict_keys."
        ) from error
