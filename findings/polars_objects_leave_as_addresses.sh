#!/usr/bin/env bash
# polars 2.1.0, pyarrow 26.0.1 and pandas 3.1.1, Python 3.11.
#
# A polars column of Python objects (pl.Object, as of instances of a class of a program)
# leaves through the Arrow C stream as 8 bytes for each value: the address of the object in this
# process. pyarrow and everything that reads the stream take it for binary data, without an error, so
# it can be trained on and written to Parquet. It differs in every run. `to_pandas` gives the objects.
#
# Output seen:
#   type fixed_size_binary[8], without metadata of an extension
#   the value is the address of the object: True
#   Parquet has the column as fixed_size_binary[8]
#   to_pandas gives the object: True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/objects.py" <<'PYTHON'
import sys

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq


class Item:
    pass


item = Item()
frame = pl.DataFrame({"x": pl.Series([item], dtype=pl.Object)})
table = pa.table(frame)
field = table.schema.field("x")
print(f"type {field.type}, {'with' if field.metadata else 'without'} metadata of an extension")
value = table["x"][0].as_py()
print("the value is the address of the object:", int.from_bytes(value, sys.byteorder) == id(item))
pq.write_table(table, f"{sys.argv[1]}/rows.parquet")
print("Parquet has the column as", pq.read_schema(f"{sys.argv[1]}/rows.parquet").field("x").type)
print("to_pandas gives the object:", frame.to_pandas()["x"][0] is item)
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet polars==2.1.0 pyarrow==26.0.1 pandas==3.1.1
"$folder/venv/bin/python" "$folder/objects.py" "$folder" | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
