#!/usr/bin/env bash
# duckdb 2.0.1, tensorflow 2.21.0, pandas 3.1.1 and numpy 2.4.6, Python 3.11.
#
# A DuckDB relation's method `tf()` returns a dict of tensors in which a missing value is 0, and a
# missing boolean is False: the mask of the array that `fetchnumpy()` returns is lost on the way to
# TensorFlow. A model then trains on zeros. `df()` keeps them as missing. There is no warning.
#
# Output seen (the second row has NULL in each column):
#   fetchnumpy: i [1, None, 3], f [1.5, None, 2.5], b [True, None, True]
#   df: i [1, <NA>, 3], f [1.5, nan, 2.5], b [True, <NA>, True]
#   tf: i [1, 0, 3], f [1.5, 0.0, 2.5], b [True, False, True]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/program.py" <<'PYTHON'
import duckdb

rows = "from (values (1, 1.5::double, true), (null, null, null), (3, 2.5, true)) rows(i, f, b)"


def show(name, columns):
    print(f"{name}:", ", ".join(f"{column} {values}" for column, values in columns.items()))


show("fetchnumpy", {c: v.tolist() for c, v in duckdb.sql(rows).fetchnumpy().items()})
show("df", {c: v.tolist() for c, v in duckdb.sql(rows).df().items()})
show("tf", {c: v.numpy().tolist() for c, v in duckdb.sql(rows).tf().items()})
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet \
  duckdb==2.0.1 tensorflow==2.21.0 pandas==3.1.1 numpy==2.4.6
TF_CPP_MIN_LOG_LEVEL=3 "$folder/venv/bin/python" "$folder/program.py" 2> /dev/null \
  | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
