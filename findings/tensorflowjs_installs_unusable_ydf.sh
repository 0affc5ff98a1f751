#!/usr/bin/env bash
# A plain installation of tensorflowjs 4.22.0 has a converter that cannot start. It requires
# tensorflow-decision-forests, whose newest version, 1.12.0, requires tensorflow 2.19.0 (which
# requires protobuf below 6) and ydf of any newer version. ydf 0.16.0 declares protobuf>=5.29.1, so
# pip takes it, but its generated code was made by protobuf 6.31.1 and refuses 5.29. The error comes
# from the import of ydf, although the program converts no decision forest. ydf 0.13.0 works.
#
# Seen with Python 3.11, Linux, x86-64:
#
#   ydf 0.16.0: VersionError
#   ydf 0.13.0: imported
#
# Before you convert for TensorFlow.js: pip install tensorflowjs "ydf<0.14".
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
pip=("$folder/venv/bin/pip" install --quiet --disable-pip-version-check)

import_ydf() {
  "$folder/venv/bin/python" -c '
import importlib.metadata
try:
    import ydf
    result = "imported"
except Exception as error:
    result = type(error).__name__
print("ydf", importlib.metadata.version("ydf") + ":", result)'
}

{
  "${pip[@]}" ydf==0.16.0 protobuf==5.29.6 numpy==2.1.3 pandas==2.2.3 # pip finds no conflict.
  "$folder/venv/bin/pip" check > /dev/null
  import_ydf
  "${pip[@]}" ydf==0.13.0 protobuf==5.29.6 numpy==2.1.3 pandas==2.2.3
  import_ydf
} > "$folder/found"
diff <(sed -n 's/^#   ydf/ydf/p' "$0") "$folder/found"
echo "as described"
