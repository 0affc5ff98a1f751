#!/usr/bin/env bash
# pyarrow 26.0.1, duckdb 2.0.1 and polars 2.1.0, Python 3.11.
#
# The statistics of a row group of Parquet leave out NaN. The filters of pyarrow (read_table,
# datasets) and of DuckDB take them for the limits of all values. They skip a row group whose minimum
# and maximum exclude the filter, although its NaN rows match: `is_nan`, `!=` and "not less than" lose
# rows, without a warning. Whether a row is lost depends on the other values of its row group.
# The same filters find all rows of the table in memory. polars finds them in the file, too.
#
# Output seen (x is 1, NaN | 5, 6 | NaN, NaN; a row group is two rows; for DuckDB NaN is the largest):
#   pyarrow is_nan(x): file 2, memory 3
#   pyarrow x != 1: file 4, memory 5
#   pyarrow not x < 3: file 4, memory 5
#   duckdb isnan(x): file 2, memory 3
#   duckdb x > 3: file 4, memory 5
#   polars is_nan(x): file 3, memory 3
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/filters.py" <<'PYTHON'
import sys

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

path = f"{sys.argv[1]}/rows.parquet"
nan = float("nan")
table = pa.table({"x": [1.0, nan, 5.0, 6.0, nan, nan]})
pq.write_table(table, path, row_group_size=2)


def show(name, in_file, in_memory):
    print(f"{name}: file {in_file}, memory {in_memory}")


x = pc.field("x")
for name, kept in {"is_nan(x)": x.is_nan(), "x != 1": x != 1, "not x < 3": ~(x < 3)}.items():
    read = pq.read_table(path, filters=kept)
    show(f"pyarrow {name}", read.num_rows, table.filter(kept).num_rows)
duckdb.sql(f"create table rows as from '{path}'")
for kept in ("isnan(x)", "x > 3"):
    counts = [
        duckdb.sql(f"select count(*) from {source} where {kept}").fetchall()[0][0]
        for source in (f"'{path}'", "rows")
    ]
    show(f"duckdb {kept}", *counts)
kept = pl.col("x").is_nan()
read = pl.scan_parquet(path).filter(kept).collect()
show("polars is_nan(x)", read.height, pl.from_arrow(table).filter(kept).height)
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet duckdb==2.0.1 pyarrow==26.0.1 polars==2.1.0
"$folder/venv/bin/python" "$folder/filters.py" "$folder" | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
