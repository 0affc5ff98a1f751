#!/usr/bin/env bash
# polars writes text to Arrow (IPC) files as views (`string_view`), and pyarrow reads them, but most
# of pyarrow's functions have no kernel for views: a program that reads such a table and then
# shuffles, filters or looks up its rows fails. Parquet files of polars have `large_string`.
#
# Seen with polars 2.1.0, pyarrow 26.0.1 and Python 3.11 on Linux, x86-64:
#
#   read: string_view, dictionary<values=string_view, indices=uint32, ordered=0>
#   take: ArrowNotImplementedError
#   filter: ArrowNotImplementedError
#   equal: ArrowNotImplementedError
#   index_in: ArrowNotImplementedError
#   fill_null: ArrowNotImplementedError
#   dictionary_decode: ArrowNotImplementedError
#   take after a cast to large_string: large_string
#
# Cast views after reading, also the values of dictionaries and lists, or let polars write with
# `compat_level=pl.CompatLevel.oldest()`.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check polars==2.1.0 pyarrow==26.0.1
(cd "$folder" && venv/bin/python - > found) <<'PYTHON'
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

kind = pl.Series("kind", ["u", "v", "u"], dtype=pl.Categorical)
pl.DataFrame([pl.Series("word", ["a", "b", None]), kind]).write_ipc("rows.arrow")
with pa.ipc.open_file("rows.arrow") as reader:
    table = reader.read_all()
print("read:", ", ".join(map(str, table.schema.types)))
word, kind = (column.combine_chunks() for column in table.columns)
FUNCTIONS = {
    "take": lambda: word.take([1, 0]),
    "filter": lambda: word.filter([True, False, True]),
    "equal": lambda: pc.equal(word, "a"),
    "index_in": lambda: pc.index_in(word, pa.array(["a"])),
    "fill_null": lambda: pc.fill_null(word, ""),
    "dictionary_decode": lambda: kind.dictionary_decode(),
    "take after a cast to large_string": lambda: word.cast(pa.large_string()).take([1, 0]),
}
for name, function in FUNCTIONS.items():
    try:
        print(f"{name}:", function().type)
    except pa.ArrowException as error:
        print(f"{name}:", type(error).__name__)
PYTHON
diff <(sed -n 's/^#   //p' "$0") "$folder/found"
echo "as described"
