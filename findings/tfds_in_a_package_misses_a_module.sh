#!/usr/bin/env bash
# tensorflow-datasets 4.9.10, tensorflow 2.21.0, Python 3.11.
#
# A DatasetBuilder whose class is in a module of a package (`tables.rows`) cannot be prepared or
# loaded: tensorflow-datasets asks for the module importlib_resources, which it requires only on
# Python 3.8 and older. The same class in a module of no package, or in the program itself, is
# prepared. Builders of packages work after `pip install importlib_resources`.
#
# Output seen:
#   alone: 3 rows
#   in a package: ModuleNotFoundError: No module named 'importlib_resources'
#   in a package, with importlib_resources: 3 rows
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/tables"
cat > "$folder/alone.py" <<'PYTHON'
import numpy as np
import tensorflow_datasets as tfds


class Rows(tfds.core.GeneratorBasedBuilder):
    """Three rows."""

    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        features = tfds.features.FeaturesDict({"x": np.int64})
        return tfds.core.DatasetInfo(builder=self, features=features)

    def _split_generators(self, manager):
        return {"train": ((row, {"x": row}) for row in range(3))}

    def _generate_examples(self):
        raise NotImplementedError
PYTHON
cp "$folder/alone.py" "$folder/tables/rows.py"
touch "$folder/tables/__init__.py"
cat > "$folder/prepare.py" <<'PYTHON'
import contextlib
import importlib
import sys

builder = importlib.import_module(sys.argv[1]).Rows(data_dir=sys.argv[2])
try:
    with contextlib.redirect_stdout(sys.stderr):
        builder.download_and_prepare()
    print(f"{sys.argv[3]}: {builder.info.splits['train'].num_examples} rows")
except ModuleNotFoundError as error:
    print(f"{sys.argv[3]}: {type(error).__name__}: {error}")
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tensorflow-datasets==4.9.10 tensorflow==2.21.0
prepare() { (cd "$folder" && "venv/bin/python" prepare.py "$1" "$folder/$2" "$3" 2> /dev/null); }
{
  prepare alone first "alone"
  prepare tables.rows second "in a package"
  "$folder/venv/bin/pip" install --quiet importlib_resources==6.5.2 > /dev/null
  prepare tables.rows third "in a package, with importlib_resources"
} | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
