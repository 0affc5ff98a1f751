#!/usr/bin/env bash
# deltalake 1.6.6, pyarrow 26.0.1, pandas 3.1.1, Python 3.11.
#
# A Delta table with column mapping (`delta.columnMapping.mode` = `name`, which Databricks needs to
# rename or drop a column) stores its columns under other names: here the column `a` is `col-1` in
# the Parquet file, as the protocol describes. SQL by `QueryBuilder` finds the values.
# `to_pyarrow_table()`, `to_pyarrow_dataset()` and `to_pandas()` of the same version look for the
# logical names in the files: each value of each column is null, and there is no error. A table with
# deletion vectors they refuse.
#
# Output seen:
#   names in the file: ['col-1', 'col-2']
#   QueryBuilder: {'a': [1, 2], 'b': ['x', 'y']}
#   to_pyarrow_table(): {'a': [None, None], 'b': [None, None]}
#   to_pandas(): {'a': [nan, nan], 'b': [nan, nan]}
#
# Read such a table with `QueryBuilder`, or with a reader that refuses it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/mapped.py" <<'PYTHON'
import json
import os
import sys
from pathlib import Path

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq

os.chdir(sys.argv[1])
Path("rows/_delta_log").mkdir(parents=True)
kinds = {"a": (1, pa.int64(), "long"), "b": (2, pa.string(), "string")}
stored = pa.schema(
    [
        pa.field(f"col-{number}", kind, metadata={"PARQUET:field_id": str(number)})
        for number, kind, _ in kinds.values()
    ]
)
pq.write_table(pa.table([[1, 2], ["x", "y"]], schema=stored), "rows/part.parquet")
fields = [
    {
        "name": name,
        "type": kind,
        "nullable": True,
        "metadata": {
            "delta.columnMapping.id": number,
            "delta.columnMapping.physicalName": f"col-{number}",
        },
    }
    for name, (number, _, kind) in kinds.items()
]
configuration = {
    "delta.columnMapping.mode": "name",
    "delta.columnMapping.maxColumnId": "2",
}
metadata = {
    "id": "5b8f7a62-3f0f-4d0e-9a86-3c0b7c1a4b11",
    "format": {"provider": "parquet", "options": {}},
    "schemaString": json.dumps({"type": "struct", "fields": fields}),
    "partitionColumns": [],
    "configuration": configuration,
    "createdTime": 1,
}
add = {
    "path": "part.parquet",
    "partitionValues": {},
    "size": os.path.getsize("rows/part.parquet"),
    "modificationTime": 1,
    "dataChange": True,
}
actions = [
    {"protocol": {"minReaderVersion": 2, "minWriterVersion": 5}},
    {"metaData": metadata},
    {"add": add},
]
Path(f"rows/_delta_log/{0:020}.json").write_text("\n".join(map(json.dumps, actions)))

print("names in the file:", pq.read_schema("rows/part.parquet").names)
table = deltalake.DeltaTable("rows")
rows = deltalake.QueryBuilder().register("rows", table).execute("select * from rows")
print("QueryBuilder:", pa.table(rows).to_pydict())
print("to_pyarrow_table():", table.to_pyarrow_table().to_pydict())
print("to_pandas():", table.to_pandas().astype(object).to_dict("list"))
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet deltalake==1.6.6 pyarrow==26.0.1 pandas==3.1.1
"$folder/venv/bin/python" "$folder/mapped.py" "$folder" 2> /dev/null | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
