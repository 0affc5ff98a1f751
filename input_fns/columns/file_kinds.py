"""Advice about files that a reader of tables cannot read."""

_IN_MEMORY = "read it into memory: input_fns.frame({})"
_ENCRYPTED = "it is encrypted: " + _IN_MEMORY.format(
    "pyarrow.parquet.read_table(path, decryption_properties=...)"
)
# By their first bytes.
_KINDS = {
    b"PARE": _ENCRYPTED,
    b"PAR1": "it is a Parquet file: use input_fns.parquet",
    b"ARROW1": "it is an Arrow file: use input_fns.arrow",
    b"FEA1": "it is Feather 1: " + _IN_MEMORY.format("pyarrow.feather.read_table(path)"),
    b"ORC": "it is an ORC file: " + _IN_MEMORY.format("pyarrow.orc.read_table(path)"),
    b"Obj\x01": "it is an Avro file: "
    + _IN_MEMORY.format("pyarrow.Table.from_pylist(list(fastavro.reader(file)))"),
}


def find_advice(reason: str, start: bytes = b"", reader: str = "") -> str:
    """Returns what to do about a file that cannot be read.

    Args:
      reason: The error of its reader.
      start: The first bytes of the file; none if it could be opened.
      reader: Name of the function of `input_fns`.
    """
    if "decrypt" in reason or "encrypted" in reason:
        return _ENCRYPTED
    kinds = (advice for magic, advice in _KINDS.items() if start.startswith(magic))
    advice = next(kinds, None)
    return "get a fresh copy" if advice is None or advice.endswith(f".{reader}") else advice
