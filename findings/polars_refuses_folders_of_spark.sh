#!/usr/bin/env bash
# pyspark 4.3.0, polars 2.1.0, duckdb 2.0.1, pyarrow 26.0.1, OpenJDK 17 (which must be installed),
# Python 3.11.
#
# polars does not read a folder of Parquet files that Spark has written to a local or network file
# system: Hadoop's file system puts a hidden checksum `.part-....parquet.crc` beside each file, and
# polars takes all files of a folder for parts of the table, hidden ones too. It leaves out the empty
# `_SUCCESS`, and reads the folder once the checksums are removed. pyarrow leaves out all names that
# begin with a dot or an underscore, and a pattern is read by all.
#
# Output seen:
#   files: .crc .parquet _SUCCESS
#   polars, folder: InvalidOperationError
#   polars, pattern: 4 rows
#   pyarrow, folder: 4 rows
#   duckdb, pattern: 4 rows
#   polars, folder without checksums: 4 rows
#
# A program that writes a table as a folder should put nothing else into it; readers should be given
# a pattern.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/folder.py" <<'PYTHON'
import os
import sys
from pathlib import Path

import duckdb
import polars as pl
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

os.chdir(sys.argv[1])
spark = SparkSession.builder.master("local[1]").getOrCreate()
spark.sparkContext.setLogLevel("OFF")
spark.range(4).coalesce(1).write.parquet("rows")
spark.stop()
files = [path.name for path in Path("rows").iterdir()]
print("files:", *sorted({name if name == "_SUCCESS" else Path(name).suffix for name in files} - {""}))


def show(name, read):
    try:
        print(f"{name}: {len(read())} rows")
    except Exception as error:
        print(f"{name}: {type(error).__name__}")


show("polars, folder", lambda: pl.read_parquet("rows"))
show("polars, pattern", lambda: pl.read_parquet("rows/*.parquet"))
show("pyarrow, folder", lambda: pq.read_table("rows"))
show("duckdb, pattern", lambda: duckdb.sql("select * from 'rows/*.parquet'").fetchall())
for path in Path("rows").glob(".*.crc"):
    path.unlink()
show("polars, folder without checksums", lambda: pl.read_parquet("rows"))
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pyspark==4.3.0 polars==2.1.0 duckdb==2.0.1 pyarrow==26.0.1
"$folder/venv/bin/python" "$folder/folder.py" "$folder" 2> /dev/null | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
