#!/usr/bin/env bash
# pyiceberg 0.12.0, pyarrow 26.0.1, Python 3.11.
#
# Rows of null and NaN pass some filters of pyiceberg, and not others of the same meaning. A row of
# null passes `x not in (1, 5)`, but not `x != 1 and x != 5`, and not `x not in (1)`. A row of NaN
# passes `x != 1` in a scan, but `delete` of `x != 1` keeps it: a program that moves the rows of a
# filter to another table and then deletes them has the row twice. The x of the rows 0 to 4 is 1, 2,
# NaN, null and 5.
#
# Output seen:
#   x not in (1, 5): [1, 2, 3]
#   x != 1 and x != 5: [1, 2]
#   x not in (1): [1, 2, 4]
#   x != 1: [1, 2, 4]
#   rows after delete of x != 1: [0, 2, 3]
#
# Add `x is not null` and `x is not nan`, or their opposites, to a filter.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/filters.py" <<'PYTHON'
import sys

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

place = sys.argv[1]
catalog = SqlCatalog("local", uri=f"sqlite:///{place}/catalog.db", warehouse=f"file://{place}")
catalog.create_namespace("n")
rows = pa.table({"x": [1.0, 2.0, float("nan"), None, 5.0], "id": range(5)})
table = catalog.create_table("n.rows", rows.schema)
table.append(rows)


def read_ids(row_filter):
    return sorted(table.scan(row_filter=row_filter).to_arrow()["id"].to_pylist())


for text in ("x not in (1, 5)", "x != 1 and x != 5", "x not in (1)", "x != 1"):
    print(f"{text}: {read_ids(text)}")
table.delete("x != 1")
print("rows after delete of x != 1:", sorted(table.scan().to_arrow()["id"].to_pylist()))
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet 'pyiceberg[sql-sqlite,pyarrow]==0.12.0' pyarrow==26.0.1
"$folder/venv/bin/python" "$folder/filters.py" "$folder" 2> /dev/null | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
