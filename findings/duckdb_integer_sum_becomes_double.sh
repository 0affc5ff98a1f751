#!/usr/bin/env bash
# duckdb 2.0.1, pandas 3.1.1, polars 2.1.0, pyarrow 26.0.1 and numpy 2.4.6, Python 3.11.
#
# The sum of a BIGINT column has DuckDB's type HUGEINT. The same query gives it exactly by fetchall,
# Arrow and polars, but as a 64-bit float by `df()`, `fetchnumpy()` and in a Parquet file that COPY
# writes: integers above 2**53 change, and an integer feature becomes a float one. The largest value
# of the same column stays an integer in all of them.
#
# Output seen (the column holds 9007199254740993 and 0):
#   fetchall: sum int 9007199254740993, max int 9007199254740993
#   arrow: sum decimal128(38, 0) 9007199254740993, max int64 9007199254740993
#   polars: sum Decimal(precision=38, scale=0) 9007199254740993, max Int64 9007199254740993
#   df: sum float64 9007199254740992.0, max int64 9007199254740993
#   fetchnumpy: sum float64 9007199254740992.0, max int64 9007199254740993
#   parquet: sum double 9007199254740992.0, max int64 9007199254740993
#
# Write `sum(x)::BIGINT`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/sums.py" <<'PYTHON'
import sys

import duckdb
import pyarrow.parquet as pq

QUERY = "select sum(x) as sum, max(x) as max from (values (9007199254740993::BIGINT), (0)) rows(x)"


def show(name, columns):
    print(f"{name}:", ", ".join(f"{column} {kind} {value}" for column, kind, value in columns))


row = duckdb.sql(QUERY).fetchall()[0]
show("fetchall", [(c, type(v).__name__, v) for c, v in zip(("sum", "max"), row)])
table = duckdb.sql(QUERY).to_arrow_table()
show("arrow", [(c, table[c].type, table[c][0].as_py()) for c in table.column_names])
frame = duckdb.sql(QUERY).pl()
show("polars", [(c, frame[c].dtype, frame[c][0]) for c in frame.columns])
frame = duckdb.sql(QUERY).df()
show("df", [(c, frame[c].dtype, frame[c].tolist()[0]) for c in frame.columns])
arrays = duckdb.sql(QUERY).fetchnumpy()
show("fetchnumpy", [(c, array.dtype, array.tolist()[0]) for c, array in arrays.items()])
duckdb.sql(f"copy ({QUERY}) to '{sys.argv[1]}/sums.parquet'")
table = pq.read_table(f"{sys.argv[1]}/sums.parquet")
show("parquet", [(c, table[c].type, table[c][0].as_py()) for c in table.column_names])
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet \
  duckdb==2.0.1 pandas==3.1.1 polars==2.1.0 pyarrow==26.0.1 numpy==2.4.6
"$folder/venv/bin/python" "$folder/sums.py" "$folder" | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
