#!/usr/bin/env bash
# gin-config 0.5.0 with numpy 1.26.4 and with numpy 2.4.6, Python 3.11.
#
# gin writes a binding to `config_str` and `operative_config_str` if Python can read its repr. The repr
# of a NumPy scalar was "0.5"; since NumPy 2 it is "np.float64(0.5)". gin then leaves the binding out,
# without a warning: a run that is repeated from its saved configuration trains with the default
# value. Learning rates and sizes of np.linspace or of a tuner are such scalars.
#
# Output seen (the function's defaults are rate=0.1, units=8, and the bindings are 0.5 and 64):
#   numpy 1.26.4: train.rate = 0.5, train.units = 64
#   numpy 1.26.4, run again: rate 0.5, units 64
#   numpy 2.4.6: nothing
#   numpy 2.4.6, run again: rate 0.1, units 8
#
# Bind `float(rate)` and `int(units)`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/bindings.py" <<'PYTHON'
import gin
import numpy as np


@gin.configurable
def train(rate=0.1, units=8):
    return f"rate {rate}, units {units}"


gin.bind_parameter("train.rate", np.float64(0.5))
gin.bind_parameter("train.units", np.int64(64))
train()
saved = gin.operative_config_str()
lines = [line for line in saved.splitlines() if line and not line.startswith("#")]
print(f"numpy {np.__version__}:", ", ".join(lines) or "nothing")
gin.clear_config()
gin.parse_config(saved)
print(f"numpy {np.__version__}, run again: {train()}")
PYTHON
for version in 1.26.4 2.4.6; do
  python3.11 -m venv "$folder/$version"
  "$folder/$version/bin/pip" install --quiet gin-config==0.5.0 "numpy==$version"
  "$folder/$version/bin/python" "$folder/bindings.py" | tee -a "$folder/output"
done
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
