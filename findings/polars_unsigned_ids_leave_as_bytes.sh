#!/usr/bin/env bash
# polars 2.1.0, duckdb 2.0.1, pyarrow 26.0.1 and pandas 3.1.1, Python 3.11.
#
# polars reads unsigned 64-bit ids of a CSV file, such as hashes, as Int128: one id of 2**63 or more
# is enough. The Parquet file that it writes of them belongs to polars alone: DuckDB reads each id as
# 16 bytes without a warning, and pyarrow does not open the file, not even for its other columns.
# pandas reads the same CSV file as uint64. A frame with an Int128 column has no way to pandas or
# NumPy either.
#
# Output seen:
#   polars, csv: Int128 [18446744073709551557, 5]
#   polars, parquet: Int128 [18446744073709551557, 5]
#   duckdb, parquet: BLOB [b'\xc5\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00', b'\x05\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00']
#   pyarrow, column y only: ArrowNotImplementedError
#   polars to pandas: ArrowInvalid
#   pandas, csv: uint64 [18446744073709551557, 5]
#
# Read such columns with `schema_overrides={"id": pl.UInt64}`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/ids.py" <<'PYTHON'
import os
import sys

import duckdb
import pandas as pd
import polars as pl
import pyarrow.parquet as pq

os.chdir(sys.argv[1])
with open("ids.csv", "w") as file:
    file.write("id,y\n18446744073709551557,1\n5,0\n")
frame = pl.read_csv("ids.csv")
print("polars, csv:", frame["id"].dtype, frame["id"].to_list())
frame.write_parquet("ids.parquet")
frame = pl.read_parquet("ids.parquet")
print("polars, parquet:", frame["id"].dtype, frame["id"].to_list())
ids = duckdb.sql("select id from 'ids.parquet'")
print("duckdb, parquet:", ids.types[0], [row[0] for row in ids.fetchall()])
for name, convert in {
    "pyarrow, column y only": lambda: pq.read_table("ids.parquet", columns=["y"]),
    "polars to pandas": lambda: frame.to_pandas(),
}.items():
    try:
        print(f"{name}: {convert()}")
    except Exception as error:
        print(f"{name}: {type(error).__name__}")
ids = pd.read_csv("ids.csv")["id"]
print("pandas, csv:", ids.dtype, ids.tolist())
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet polars==2.1.0 duckdb==2.0.1 pyarrow==26.0.1 pandas==3.1.1
"$folder/venv/bin/python" "$folder/ids.py" "$folder" | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
