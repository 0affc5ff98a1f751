#!/usr/bin/env bash
# deltalake 1.6.6, pyarrow 26.0.1, Python 3.11.
#
# The ways in which one version of deltalake reads a Delta table with a deletion vector, as Spark and
# Databricks write by default since 2023, disagree: `DeltaTable.count()` counts the deleted rows, from
# the statistics of the files; `file_uris()` names the files with all rows, without a hint;
# `to_pyarrow_table()`, and so `to_pandas()`, refuse the table; SQL by `QueryBuilder` and
# `deletion_vectors()` are right. Rows 0 and 1 of 10 are deleted here, by a vector in the log, encoded
# by the protocol's "Deletion Vector Format".
#
# Output seen:
#   count(): 10
#   rows of file_uris(): 10
#   to_pyarrow_table(): DeltaProtocolError
#   QueryBuilder: 8
#   deletion_vectors(): 2 rows are deleted
#
# Ask `deletion_vectors()` before the files of a version are taken for its rows.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/vectors.py" <<'PYTHON'
import json
import os
import struct
import sys
from pathlib import Path

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq

os.chdir(sys.argv[1])
log = Path("rows/_delta_log")
table = pa.table({"id": range(10)})
deltalake.write_deltalake(
    "rows", table, configuration={"delta.enableDeletionVectors": "true"}
)
lines = (log / f"{0:020}.json").read_text().splitlines()
(add,) = [action["add"] for action in map(json.loads, lines) if "add" in action]

# One Roaring bitmap of one container, an array of the numbers 0 and 1, in Z85.
bitmap = struct.pack("<IIHHIHH", 12346, 1, 0, 1, 16, 0, 1)
content = struct.pack("<IQI", 1681511377, 1, 0) + bitmap
digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
words = [number for (number,) in struct.iter_unpack(">I", content)]
text = "".join(digits[word // 85**place % 85] for word in words for place in (4, 3, 2, 1, 0))
vector = {"storageType": "i", "pathOrInlineDv": text, "sizeInBytes": len(content), "cardinality": 2}
remove = {"path": add["path"], "dataChange": True, "deletionTimestamp": 0}
actions = [{"remove": remove}, {"add": {**add, "deletionVector": vector}}]
(log / f"{1:020}.json").write_text("\n".join(map(json.dumps, actions)))

table = deltalake.DeltaTable("rows")
print("count():", table.count())
print("rows of file_uris():", sum(pq.read_metadata(path).num_rows for path in table.file_uris()))
try:
    print("to_pyarrow_table():", table.to_pyarrow_table().num_rows)
except Exception as error:
    print("to_pyarrow_table():", type(error).__name__)
rows = deltalake.QueryBuilder().register("rows", table).execute("select id from rows")
print("QueryBuilder:", rows.read_all().num_rows)
vectors = pa.RecordBatchReader.from_stream(table.deletion_vectors()).read_all().to_pylist()
deleted = sum(not keep for found in vectors for keep in found["selection_vector"])
print("deletion_vectors():", deleted, "rows are deleted")
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet deltalake==1.6.6 pyarrow==26.0.1
"$folder/venv/bin/python" "$folder/vectors.py" "$folder" 2> /dev/null | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
