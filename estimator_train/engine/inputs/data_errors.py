"""Explanations of errors that the user's data caused: one line that names column, file or line."""

import csv
import dataclasses
import re
from collections.abc import Callable

import tensorflow as tf

from estimator_train.engine.inputs.input_fn import get_columns
from estimator_train.engine.tf_internals.sessions import find_session_graph

_MAX_NAMES = 10_000  # Longer constants are data rather than names of files.
_MAX_SHOWN = 3
_MAX_BYTES = 1 << 30  # A search after an error reads no more bytes.
_NODE = re.compile(r"\[\[(?:\{\{node )?([^\]}]+)")
_LOOP_PREFIX = re.compile(r"^.*/step/")
_KEEPS_ELEMENTS = re.compile(
    r"(Prefetch|Repeat|Shuffle|ShuffleAndRepeat|Take|Skip|Options|Model|Cache|Finite\w*|"
    r"AssertCardinality)Dataset(V\d)?$"
)


def find_dataset(op: tf.Operation | None) -> tf.Operation | None:
    """Returns the dataset whose elements an operation gets from an iterator, or None."""
    if op is None or "IteratorGetNext" not in op.type:
        return None
    for user in op.inputs[0].consumers():
        if user.type == "MakeIterator":
            return user.inputs[0].op
    return None


def list_input_files(op: tf.Operation | None) -> list[str]:
    """Returns the existing files among the string constants of an iterator's dataset."""
    dataset = find_dataset(op)
    names: list[str] = []
    seen: set[str] = set()
    ops = [] if dataset is None else [dataset]
    while ops:
        current = ops.pop()
        if current.name in seen:
            continue
        seen.add(current.name)
        ops.extend(tensor.op for tensor in current.inputs)
        for tensor in current.outputs if current.type == "Const" else ():
            if tensor.dtype == tf.string and (tensor.shape.num_elements() or 0) <= _MAX_NAMES:
                names += [_decode(name) for name in tf.get_static_value(tensor).flat]
    patterns = [name for name in dict.fromkeys(names) if 0 < len(name) < 4096 and "\n" not in name]
    files = [file for pattern in patterns for file in sorted(_glob(pattern))]
    return [file for file in dict.fromkeys(files) if not tf.io.gfile.isdir(file)]


def find_constant(tensor: tf.Tensor) -> str | None:
    """Returns the value of a constant scalar string; None if only the session knows it."""
    value = tf.get_static_value(tensor)
    return None if value is None else _decode(value.item())


def find_lines(file: str, is_wanted: Callable[[str], bool]) -> list[int]:
    """Returns the numbers, from 1, of the lines that a function selects."""
    with tf.io.gfile.GFile(file, "rb") as lines:
        texts = (_decode(line).rstrip("\r\n") for line in lines)
        return [number for number, text in enumerate(texts, 1) if is_wanted(text)]


def find_row(op: tf.Operation | None, is_wanted: Callable[[list[str]], bool]) -> str | None:
    """Returns file and line of the first row of the input's CSV files that a function selects.

    Returns:
      The place; the files alone if there is no such row, or too many bytes; None without files.
    """
    files = list_input_files(op)
    if sum(tf.io.gfile.stat(file).length for file in files) <= _MAX_BYTES:
        for delimiter in (",", "\t", ";", "|"):
            for file in files:
                with tf.io.gfile.GFile(file, "rb") as lines:
                    rows = csv.reader((_decode(line) for line in lines), delimiter=delimiter)
                    try:
                        found = next((rows.line_num for row in rows if row and is_wanted(row)), 0)
                    except csv.Error:
                        continue
                if found:
                    return f"{file}, line {found}"
    return join_names(files) if files else None


def find_damaged(files: list[str]) -> list[str]:
    """Returns the damaged one of some TFRecord files, or all if there are too many bytes."""
    if len(files) > 1 and sum(tf.io.gfile.stat(file).length for file in files) <= _MAX_BYTES:
        damaged = [file for file in files if not _is_readable(file)]
        return damaged or files
    return files


def join_names(files: list[str]) -> str:
    """Returns the names of files for a message, of not more than a few."""
    more = f" or {len(files) - _MAX_SHOWN} more" if len(files) > _MAX_SHOWN else ""
    return " or ".join(files[:_MAX_SHOWN]) + more


def _is_readable(file: str) -> bool:
    compression = {".gz": "GZIP", ".zz": "ZLIB"}.get(file[-3:], "")
    graph = tf.Graph()
    with graph.as_default(), tf.compat.v1.Session() as session:
        records = tf.data.TFRecordDataset(file, compression)
        count = records.reduce(tf.constant(0, tf.int64), lambda number, _: number + 1)
        try:
            session.run(count)
        except tf.errors.OpError:
            return False
    return True


def _glob(pattern: str) -> list[str]:
    try:
        return tf.io.gfile.glob(pattern)
    except (tf.errors.OpError, UnicodeError, ValueError):
        return []


def _decode(value: bytes | str) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


@dataclasses.dataclass(frozen=True)
class Failure:
    """Place of an error.

    Attributes:
      graph: Graph of the session call; None if it is unknown.
      op: Operation that failed; None if it is unknown, or in a function of the graph.
    """

    graph: tf.Graph | None
    op: tf.Operation | None


def explain_data_error(error: tf.errors.OpError, cause: str) -> str | None:
    """Returns one line about the user's data that caused an error, or None.

    Args:
      error: An error of a session call.
      cause: Its cause in TensorFlow's words.
    """
    graph = find_session_graph(error)
    op = error.op or (_find_op(graph, error.message) if graph else None)
    failure = Failure(graph, op)
    for pattern, explain in _EXPLANATIONS.items():
        match = re.search(pattern, cause)
        explanation = explain(match, failure) if match else None
        if explanation:
            # The parts of an assertion are in the explanation.
            return explanation if "assertion failed" in cause else f"{explanation} ({cause})"
    return _name_files(op, cause)


def _find_op(graph: tf.Graph, message: str) -> tf.Operation | None:
    """Returns the last operation that a message names; a loop has copies under other names."""
    for name in reversed(_NODE.findall(message)):
        for candidate in (name, _LOOP_PREFIX.sub("", name)):
            try:
                return graph.get_operation_by_name(candidate)
            except (KeyError, ValueError):
                continue
    return None


def _find_columns(op: tf.Operation | None, dtype: tf.DType | None = None) -> list[str]:
    """Returns the columns from which an operation computes, of one dtype if it is given."""
    if op is None:
        return []
    columns = get_columns(op.graph)
    found: dict[str, None] = {}
    seen: set[str] = set()
    tensors = list(op.inputs)
    while tensors:
        tensor = tensors.pop()
        if tensor.name in seen:
            continue
        seen.add(tensor.name)
        if tensor.name in columns:
            if dtype in (None, tensor.dtype):
                found[columns[tensor.name]] = None
        else:
            tensors.extend(tensor.op.inputs)
    return sorted(found)


def _explain_cast(match: re.Match[str], failure: Failure) -> str | None:
    columns = _find_columns(failure.op, tf.string)
    if failure.op is None and failure.graph is not None:
        # A function of the graph, such as the step of a Keras 3 model, gets all columns.
        names = get_columns(failure.graph)
        tensors = (
            (name, failure.graph.get_tensor_by_name(tensor)) for tensor, name in names.items()
        )
        columns = sorted({name for name, tensor in tensors if tensor.dtype == tf.string})
    if not columns:
        return None
    advice = "convert them in input_fn, for example with tf.strings.to_number"
    if not any(name.startswith("labels") for name in columns):
        advice += ", or use a categorical column"
    return f"{' or '.join(columns)} has strings where the model needs numbers: {advice}"


def _explain_reshape(match: re.Match[str], failure: Failure) -> str | None:
    columns = _find_columns(failure.op)
    if len(columns) != 1:
        return None
    return (
        f"{columns[0]} has {match[1]} values in a batch where the model needs {match[2]}: correct "
        "the data, or the shape in its feature column"
    )


def _explain_batch(match: re.Match[str], failure: Failure) -> str:
    name = f"component {match[1]} of the examples"
    dataset = find_dataset(failure.op)
    while dataset is not None and _KEEPS_ELEMENTS.match(dataset.type):
        dataset = dataset.inputs[0].op
    # Later transformations may have changed the components.
    if failure.op is not None and dataset is not None and "Batch" in dataset.type:
        outputs = {out.name: number for number, out in enumerate(failure.op.outputs)}
        columns = get_columns(failure.op.graph)
        name = next((c for t, c in columns.items() if outputs.get(t) == int(match[1])), name)
    return (
        f"{name} has shape {match[2]} and shape {match[3]} in one batch: give all examples one "
        "shape, or use padded_batch"
    )


def _explain_vocabulary(match: re.Match[str], failure: Failure) -> str | None:
    if failure.op is None or not failure.op.type.startswith("InitializeTableFromTextFile"):
        return None
    file = find_constant(failure.op.inputs[1])
    key, first, second = match.groups()
    lines = find_lines(file, lambda line: line == key) if file else []
    place = f"lines {' and '.join(map(str, lines))}" if lines else f"entries {first} and {second}"
    return f"{file or 'The vocabulary file'} has {key!r} in {place}: remove one of them"


def _explain_vocabulary_entry(match: re.Match[str], failure: Failure) -> str | None:
    if failure.op is None or not failure.op.type.startswith("InitializeTableFromTextFile"):
        return None
    file = find_constant(failure.op.inputs[1]) or "The vocabulary file"
    return f"{file}, line {int(match[2]) + 1}: {match[1]!r} is not {match[3]}"


def _explain_vocabulary_size(match: re.Match[str], failure: Failure) -> str:
    return (
        f"{match[1]} has {match[3]} lines where the column has vocabulary_size={match[2]}: correct "
        "the size or the file"
    )


def _explain_missing(match: re.Match[str], failure: Failure) -> str:
    return f"There is no file {match[1]}: correct the path, or create the file"


def _explain_class(match: re.Match[str], failure: Failure) -> str:
    count = int(match[2])
    return (
        f"labels has {match[1]} where the model has {count} classes: labels must be 0 to "
        f"{count - 1}; correct them, or give the model more classes"
    )


def _explain_label_range(match: re.Match[str], failure: Failure) -> str:
    limit = f"{match[1]} = {match[3]}" if match[3] else match[1]
    return f"{limit}, but a batch has {match[2]}: correct the labels, or set n_classes"


def _explain_unknown_label(match: re.Match[str], failure: Failure) -> str:
    return f"{match[1]} {match[2]}: correct the labels, or add them to label_vocabulary"


def _take_text(match: re.Match[str], failure: Failure) -> str:
    return match[1]


def _explain_csv_value(match: re.Match[str], failure: Failure) -> str | None:
    field, value = int(match[1]), match[3]
    place = find_row(failure.op, lambda row: row[field : field + 1] == [value])
    return place and f"{place}: field {field + 1} is {value!r}, expected {match[2]}"


def _explain_csv_fields(match: re.Match[str], failure: Failure) -> str | None:
    count = int(match[2])
    place = find_row(failure.op, lambda row: len(row) == count)
    return place and f"{place}: has {count} fields, expected {match[1]}"


def _explain_csv_empty(match: re.Match[str], failure: Failure) -> str | None:
    field = int(match[1])
    place = find_row(failure.op, lambda row: row[field : field + 1] == [""])
    return place and f"{place}: field {field + 1} is empty and has no default"


def _explain_record(match: re.Match[str], failure: Failure) -> str | None:
    files = find_damaged(list_input_files(failure.op))
    if not files:
        return None
    return (
        f"{join_names(files)}: {match[0]} on; the file is cut short or damaged, or is not a "
        "TFRecord file; get a fresh copy"
    )


def _name_files(op: tf.Operation | None, cause: str) -> str | None:
    """Returns the cause with the files that the input reads, if it comes from the input."""
    if op is None or "IteratorGetNext" not in op.type or "\n" in cause:
        return None
    files = list_input_files(op)
    return f"The input from {join_names(files)}: {cause}" if files else None


_Explain = Callable[[re.Match[str], Failure], str | None]


_EXPLANATIONS: dict[str, _Explain] = {
    r"^Cast string to \w+ is not supported": _explain_cast,
    r"^Input to reshape is a tensor with (\d+) values, but the requested shape (?:has|requires a "
    r"multiple of) (\d+)": _explain_reshape,
    r"^Cannot batch tensors with different shapes in component (\d+)\. First element had shape "
    r"(\[.*?\]) and element \d+ had shape (\[.*?\])": _explain_batch,
    r"^HashTable has different value for same key\. Key (.*) has (\S+) and trying to add value "
    r"(\S+)$": _explain_vocabulary,
    r"^Field (.*) in line (\d+) is not a valid (\w+)": _explain_vocabulary_entry,
    r"^Invalid vocab_size in (.*): expected (\d+) but got (\d+)": _explain_vocabulary_size,
    r"^(.+); No such file or directory": _explain_missing,
    r"^Received a label value of (\S+) which is outside the valid range of \[0, (\d+)\)": (
        _explain_class
    ),
    r"^assertion failed: \[(Labels [^\]]*?)\.?\s*\] \[Condition x [^\]]*\] \[x [^\]]*\] \[(.*?\])\]"
    r"(?: \[y [^\]]*\] \[(\d+)\])?": _explain_label_range,
    r"^assertion failed: \[(Labels [^\]]*label_vocabulary[^\]]*)\] \[(.*)\]$": (
        _explain_unknown_label
    ),
    # The input functions of this package name the place themselves.
    r"^assertion failed: \[(.+, (?:line|record) \d+: .*)\]$": _take_text,
    r"^Field (\d+) in record(?: \d+)? is not a valid (\w+): (.*)$": _explain_csv_value,
    r"^Expect (\d+) fields but have (\d+) in record": _explain_csv_fields,
    r"^Field (\d+) is required but missing in record": _explain_csv_empty,
    r"^(?:corrupted|truncated) record at \d+": _explain_record,
}
