#!/usr/bin/env bash
# polars 2.1.0, Python 3.11.
#
# polars widens 8-bit and 16-bit integers for `sum`, `cum_sum` and `product`, in a group too, because
# their results rarely fit. `sum_horizontal` keeps the type of the columns and wraps around without a
# warning; NumPy's `sum` over an axis widens. `dot` wraps too, although the type of its result is
# Int64. Indicators, counts and pixels often have such types.
#
# Output seen (the columns a and b are 100, 100 and 100, 1 with the type Int8):
#   sum: 200 Int64
#   sum in a group: 200 Int64
#   cum_sum: 200 Int64
#   product: 10000 Int64
#   sum_horizontal: -56 Int8 (numpy: 200)
#   dot: 116 Int64 (exact: 10100)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/sums.py" <<'PYTHON'
import numpy as np
import polars as pl

frame = pl.DataFrame({"a": [100, 100], "b": [100, 1]}, schema={"a": pl.Int8, "b": pl.Int8})


def show(name, series, index=0, note=""):
    print(f"{name}: {series[index]} {series.dtype}{note}")


show("sum", frame.select(pl.col("a").sum())["a"])
show("sum in a group", frame.group_by(pl.lit(1)).agg(pl.col("a").sum())["a"])
show("cum_sum", frame["a"].cum_sum(), 1)
show("product", frame.select(pl.col("a").product())["a"])
total = np.array([[100, 100]], np.int8).sum(axis=1)[0]
show("sum_horizontal", frame.select(s=pl.sum_horizontal("a", "b"))["s"], note=f" (numpy: {total})")
show("dot", frame.select(s=pl.col("a").dot("b"))["s"], note=f" (exact: {100 * 100 + 100 * 1})")
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet polars==2.1.0 numpy==2.4.6
"$folder/venv/bin/python" "$folder/sums.py" | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
