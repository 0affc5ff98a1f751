#!/usr/bin/env bash
# tensorflow 2.21.0, Python 3.11 (2.15.1 does the same).
#
# A crossed_column hashes its keys one after the other: first the sparse ones, then the dense ones. A
# string key is dense if the input_fn has a dense tensor, and sparse if tf.io.parse_example reads it
# by make_parse_example_spec. The same values then get other ids, if a column before or after the key
# is of the other kind (a bucketized column is always sparse). A model that is trained on arrays and
# served on tf.Examples looks up other weights, without a message: its predictions are plausible and
# wrong.
#
# Output seen (the columns of three rows among 1000; the values are the same):
#   word, bucket of x: dense word [95, 257, 257], parsed word [44, 983, 983]
#   bucket of x, word: dense word [95, 257, 257], parsed word [95, 257, 257]
#
# Make the strings of the training sparse (tf.sparse.from_dense), or name the dense keys last.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/program.py" <<'PYTHON'
import tensorflow as tf

v1, fc = tf.compat.v1, tf.feature_column
X, WORDS = [-1.0, 1.0, 2.0], [b"a", b"b", b"b"]


def make_example(x, word):
    example = tf.train.Example()
    example.features.feature["x"].float_list.value.append(x)
    example.features.feature["word"].bytes_list.value.append(word)
    return example.SerializeToString()


bucket = fc.bucketized_column(fc.numeric_column("x"), [0.0])
for name, keys in (
    ("word, bucket of x", ["word", bucket]),
    ("bucket of x, word", [bucket, "word"]),
):
    column = fc.indicator_column(fc.crossed_column(keys, 1000))
    found = []
    with tf.Graph().as_default(), v1.Session() as session:
        dense = {"x": tf.constant(X)[:, None], "word": tf.constant(WORDS)[:, None]}
        spec = fc.make_parse_example_spec([column])
        parsed = tf.io.parse_example([*map(make_example, X, WORDS)], spec)
        for features in (dense, parsed):
            rows = v1.feature_column.input_layer(features, [column])
            found.append(session.run(tf.argmax(rows, 1)).tolist())
    print(f"{name}: dense word {found[0]}, parsed word {found[1]}")
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tensorflow==2.21.0
TF_CPP_MIN_LOG_LEVEL=3 "$folder/venv/bin/python" "$folder/program.py" 2> /dev/null |
  tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
