#!/usr/bin/env bash
# ibis-framework 12.0.0 with its DuckDB backend, pyarrow 26.0.1, pandas 3.1.1, Python 3.11.
#
# `ibis.memtable` of Python rows or a dict makes a frame of pandas first, also if all later steps use
# Arrow: one missing value turns a column of integers into doubles, so that ids beyond 2**53 become
# those of their neighbours, and the two are one group. With `schema=` the type is int64 again, and
# the values stay wrong: the rounding comes before. From a table of Arrow, they are right.
#
# Output seen:
#   rows: double [9007199254740992, 9007199254740992, None], 1 different
#   rows with a schema: int64 [9007199254740992, 9007199254740992, None], 1 different
#   table of Arrow: int64 [9007199254740992, 9007199254740993, None], 2 different
#
# Give `ibis.memtable` a table of Arrow.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/rows.py" <<'PYTHON'
import ibis
import pyarrow as pa

rows = [{"id": 2**53}, {"id": 2**53 + 1}, {"id": None}]
tables = {
    "rows": ibis.memtable(rows),
    "rows with a schema": ibis.memtable(rows, schema={"id": "int64"}),
    "table of Arrow": ibis.memtable(pa.Table.from_pylist(rows)),
}
for name, table in tables.items():
    found = table.to_pyarrow()["id"]
    values = [None if value is None else int(value) for value in found.to_pylist()]
    print(f"{name}: {found.type} {values}, {table.id.nunique().execute()} different")
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet 'ibis-framework[duckdb]==12.0.0' pyarrow==26.0.1 pandas==3.1.1
"$folder/venv/bin/python" "$folder/rows.py" 2> /dev/null | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
