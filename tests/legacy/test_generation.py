"""Detects the generation of scripts from the methods that they call."""

from pathlib import Path

import pytest
import tensorflow as tf

import estimator_train
from estimator_train.legacy import generation

HEAD = "import tensorflow as tf\ndef input_fn():\n  data = tf.data.Dataset.range(4)\n  "


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("return data.make_one_shot_iterator().get_next()", "tf1"),
        ("return data.batch(2).shuffle(9).make_one_shot_iterator()", "tf1"),
        ("iterator = data.map(len).make_initializable_iterator()", "tf1"),
        ("width = data.get_shape()[1].value", "tf1"),
        ("width = tf.zeros([2]).shape[-1].value", "tf1"),
        ("return tf.compat.v1.data.make_one_shot_iterator(data)", "tf2"),
        ("return tf.compat.v1.data.Dataset.range(2).make_one_shot_iterator()", "tf2"),
        ("width = data.get_shape()[1]", "tf2"),
        ("tf.summary.create_file_writer; tf.function; data.make_one_shot_iterator()", "tf2"),
    ],
)
def test_methods_determine_the_generation(line, expected, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(HEAD + line)
    assert generation.detect_for_script(str(script), tf) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import tensorflow as tf\ntf.estimator.inputs.numpy_input_fn\n", "tf1"),
        ("import tensorflow as tf\ntf.estimator.tpu.TPUEstimator\n", "tf1"),
        ("from tensorflow.estimator import inputs\n", "tf1"),
        ("from tensorflow.python.data import Dataset\n", "tf1"),
        ("import tensorflow.compat.v1 as tf\ntf.estimator.inputs.numpy_input_fn\n", "tf2"),
        ("import tensorflow as tf\ntf.estimator.experimental.RNNClassifier\n", "tf2"),
        ("import tensorflow as tf\ntf.estimator.BoostedTreesClassifier\n", "tf2"),
    ],
)
def test_names_of_one_generation_determine_it(text, expected, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(text)
    assert generation.detect_for_script(str(script), tf) == expected


def test_this_package_on_pythonpath_does_not_count(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(estimator_train.__file__).parents[1]))
    script = tmp_path / "script.py"
    script.write_text(
        "import estimator_train.compat; estimator_train.compat.install()\n"
        "import tensorflow as tf\ntf.logging.set_verbosity(tf.logging.ERROR)\n"
    )
    assert [path for path, _ in generation.find_sources(str(script))] == [script]
    assert generation.detect_for_script(str(script), tf) == "tf1"


UNUSED = "import tensorflow as tf\ndef quiet():\n  tf.logging.set_verbosity(tf.logging.ERROR)\n"
AT_IMPORT = "import tensorflow as tf\ntf.logging.set_verbosity(tf.logging.ERROR)\n"
BOTH = "import tensorflow as tf\nprint(tf.constant(1))\n"


@pytest.mark.parametrize(
    ("text", "requirement", "expected"),
    [
        (UNUSED, "tensorflow>=2.6,<2.10", "tf2"),
        (UNUSED, "tensorflow-cpu ~= 2.2.0", "tf2"),
        (UNUSED, "tensorflow>=1.12", "tf1"),
        (UNUSED, "tensorflow-hub==2.0", "tf1"),
        (UNUSED, "# tensorflow==2.0", "tf1"),
        (UNUSED, "", "tf1"),
        # Tools that raise requirements do not read the code.
        (AT_IMPORT, "tensorflow==2.11.1", "tf1"),
        (BOTH, "tensorflow==1.15.4", "tf1"),
        (BOTH, "tensorflow-gpu[and-cuda]>=1.14,<2.0", "tf1"),
        (BOTH, "tensorflow>=1.14", "tf2"),
        (BOTH, "tensorflow==1.15\ntensorflow==2.1", "tf2"),
    ],
)
def test_requirements_decide_if_few_names_do(text, requirement, expected, tmp_path):
    (tmp_path / "requirements.txt").write_text(f"numpy\n{requirement}\n")
    package = tmp_path / "package"
    package.mkdir()
    script = package / "script.py"
    script.write_text(text)
    assert generation.detect_for_script(str(script), tf) == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("setup.py", "setup(extras_require={'gpu': ['tensorflow>=2.6,<2.10']})"),
        ("Pipfile", '[packages]\ntensorflow = "==2.1"\n'),
        ("environment.yml", "dependencies:\n  - tensorflow==2.0.0b1\n"),
    ],
)
def test_requirements_have_many_forms(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    script = tmp_path / "script.py"
    script.write_text(UNUSED)
    assert generation.detect_for_script(str(script), tf) == "tf2"


DATASETS = """
from tensorflow.python.data import Dataset, TFRecordDataset
import tensorflow as tf

print(Dataset is tf.data.Dataset, TFRecordDataset is tf.data.TFRecordDataset, tf.VERSION[0])
with tf.Session() as session:
    print(session.run(Dataset.range(3).make_one_shot_iterator().get_next()))
"""


def test_private_datasets_are_those_of_tensorflow_1(run):
    assert run(DATASETS, switches=[]).stdout == "True True 1\n0\n"


def test_pytest_runs_a_suite_in_its_generation(run, tmp_path):
    (tmp_path / "suite.py").write_text(
        "import tensorflow as tf\n"
        "tf.placeholder\n"
        "def test_version():\n"
        "    assert tf.VERSION[0] == '1'\n"
    )
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "suite.py", switches=[])
    assert "1 passed" in done.stdout


CHAINS = """
import tensorflow as tf
seen = []
for chain in (
    lambda d: d.batch(2).repeat(1).shuffle(buffer_size=100),
    lambda d: d.map(lambda x: x + 1).cache().prefetch(1),
    lambda d: d.filter(lambda x: x > 1).take(2).skip(1),
    lambda d: d.interleave(tf.data.Dataset.from_tensors, cycle_length=1).shard(2, 0),
    lambda d: tf.data.Dataset.zip((d, d)).concatenate(tf.data.Dataset.zip((d, d))),
    lambda d: d.apply(tf.data.experimental.shuffle_and_repeat(3)).padded_batch(2, []),
):
    data = chain(tf.data.Dataset.from_tensor_slices([1, 2, 3, 4]))
    one = data.make_one_shot_iterator().get_next()
    iterator = data.make_initializable_iterator()
    assert data.output_types and data.output_classes and data.output_shapes is not None
    with tf.Session() as session:
        session.run(iterator.initializer)
        session.run((one, iterator.get_next()))
    seen.append(type(data).__name__)
print(len(seen))
"""


@pytest.mark.long
def test_datasets_keep_the_methods_of_tensorflow_1_through_transformations(run):
    assert run(CHAINS, switches=[]).stdout == "6\n"
    neutral = CHAINS.replace("tf.Session()", "tf.compat.v1.Session()")
    assert run(neutral, switches=[]).stdout == "6\n"
