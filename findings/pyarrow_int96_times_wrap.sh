#!/usr/bin/env bash
# pyarrow 26.0.1, pandas 3.1.1, polars 2.1.0, duckdb 2.0.1, Python 3.11.
#
# Times of Parquet's type INT96, which Spark writes by default, are a day and the nanoseconds of that
# day. pyarrow reads them as 64-bit nanoseconds, which end in the year 2262: the numbers of other
# times wrap around without an error. The 9999-12-31 and 0001-01-01 with which tables mark "no end"
# and "unknown" become days of 1816 and 1754. pandas gives the same wrong times; polars, DuckDB, and pyarrow with
# coerce_int96_timestamp_unit="us" give those that were written. A cast of pyarrow from microseconds
# to nanoseconds is an error for such times.
#
# Output seen:
#   pyarrow: 0001-01-01 is 1754-08-30, 2024-01-01 is 2024-01-01, 9999-12-31 is 1816-03-29
#   pandas: 0001-01-01 is 1754-08-30, 2024-01-01 is 2024-01-01, 9999-12-31 is 1816-03-29
#   polars: 0001-01-01 is 0001-01-01, 2024-01-01 is 2024-01-01, 9999-12-31 is 9999-12-31
#   duckdb: 0001-01-01 is 0001-01-01, 2024-01-01 is 2024-01-01, 9999-12-31 is 9999-12-31
#   coerced: 0001-01-01 is 0001-01-01, 2024-01-01 is 2024-01-01, 9999-12-31 is 9999-12-31
#   cast: ArrowInvalid
#
# A reader of such files should ask for microseconds, or check that the times are within nanoseconds.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/int96.py" <<'PYTHON'
import datetime
import sys

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

path = f"{sys.argv[1]}/times.parquet"
days = [datetime.datetime(1, 1, 1), datetime.datetime(2024, 1, 1), datetime.datetime(9999, 12, 31)]
table = pa.table({"time": pa.array(days, pa.timestamp("us"))})
pq.write_table(table, path, use_deprecated_int96_timestamps=True)


def show(name, times):
    pairs = zip(days, times, strict=True)
    print(f"{name}:", ", ".join(f"{str(day)[:10]} is {str(time)[:10]}" for day, time in pairs))


def read(**options):
    return pq.read_table(path, **options)["time"].to_pylist()


show("pyarrow", read())
show("pandas", pd.read_parquet(path)["time"])
show("polars", pl.read_parquet(path)["time"])
show("duckdb", [time for (time,) in duckdb.sql(f"select time from '{path}'").fetchall()])
show("coerced", read(coerce_int96_timestamp_unit="us"))
try:
    table["time"].cast(pa.timestamp("ns"))
except pa.ArrowInvalid as error:
    print("cast:", type(error).__name__)
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pyarrow==26.0.1 pandas==3.1.1 polars==2.1.0 duckdb==2.0.1
"$folder/venv/bin/python" "$folder/int96.py" "$folder" | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
