#!/usr/bin/env bash
# datasets 5.2.0, numpy 2.4.6, pandas 3.1.1 and pyarrow 26.0.1, Python 3.11.
#
# `with_format("numpy")` of a Hugging Face dataset casts integers to int64 and floats to float32,
# whatever `features` says. An unsigned 64-bit id of 2**63 or more becomes negative. One missing value
# makes the integers of its batch 32-bit floats, which merge numbers above 2**24: the id 16777217
# depends on the rows that it is read with. The format pandas keeps the types, except for integers
# with missing values, which become 64-bit floats.
#
# Output seen:
#   uint64 9223372036854775813: numpy int64 -9223372036854775803, pandas uint64 9223372036854775813
#   int64 16777217, all rows known: numpy int64 16777217, pandas int64 16777217
#   int64 16777217, another row missing: numpy float32 16777216.0, pandas float64 16777217.0
#   float64 16777217.0: numpy float32 16777216.0, pandas float64 16777217.0
#
# Pass the type: `with_format("numpy", dtype=...)`, or read the Arrow table.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/columns.py" <<'PYTHON'
import datasets
import numpy as np

COLUMNS = {
    "uint64 9223372036854775813": np.array([2**63 + 5, 1], np.uint64),
    "int64 16777217, all rows known": [2**24 + 1, 1],
    "int64 16777217, another row missing": [2**24 + 1, None],
    "float64 16777217.0": [2.0**24 + 1, 1.0],
}
rows = datasets.Dataset.from_dict(COLUMNS)
for name in COLUMNS:
    assert rows.features[name].dtype == name.split()[0]
    seen = []
    for form in ("numpy", "pandas"):
        values = rows.with_format(form)[:][name]
        seen.append(f"{form} {values.dtype} {values.tolist()[0]}")
    print(f"{name}:", ", ".join(seen))
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet \
  datasets==5.2.0 numpy==2.4.6 pandas==3.1.1 pyarrow==26.0.1
HF_HOME="$folder/home" "$folder/venv/bin/python" "$folder/columns.py" | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
