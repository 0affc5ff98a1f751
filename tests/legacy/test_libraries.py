"""Installed libraries that use removed names see them; others see the installed TensorFlow."""

import sys

import pytest

from estimator_train.legacy import libraries

LIBRARIES = {
    "old/__init__.py": "from old import inner\nimport numpy as np\n",
    "old/inner.py": (
        "import numpy as np\n"
        "import tensorflow.compat.v2 as tf\n"
        "import keras\n"
        "Estimator = tf.compat.v1.estimator.Estimator\n"
        "INT, KERAS = np.int, keras.layers.Dense.__module__[:8]\n"
    ),
    "first/__init__.py": (
        "import tensorflow as tf\n"
        "from tensorflow.contrib import layers\n"
        "OPTIMIZER = tf.train.GradientDescentOptimizer\n"
        "VERSION = tf.VERSION\n"
    ),
    "hooks/__init__.py": (
        "import tensorflow as tf\nclass Hook(tf.train.SessionRunHook): exists = tf.gfile.Exists\n"
    ),
    "later/__init__.py": (
        "import tensorflow as tf\n"
        "import tensorflow.compat.v1 as tf1\n"
        "def fallback(): return tf.gfile.Exists\n"
        "try: Hook = tf.train.SessionRunHook\n"
        "except AttributeError: Hook = tf1.train.SessionRunHook\n"
    ),
    "alone.py": "from tensorflow_estimator import estimator\n",
    "today/__init__.py": (
        '"""Says tf.estimator, which every importer sees, and keeps Keras 3."""\n'
        "import keras\n"
        "import tensorflow as tf\n"
        "HAS, KERAS = hasattr(tf, 'estimator'), keras.layers.Dense.__module__[:5]\n"
    ),
}


@pytest.fixture
def installed(tmp_path):
    folder = tmp_path / "site-packages"
    for name, text in LIBRARIES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_old_libraries_are_recognized_by_their_code(installed):
    expected_names = {"old": True, "first": True, "hooks": True, "alone": True}
    for name, expected in {**expected_names, "later": False, "today": False}.items():
        assert libraries.is_old(libraries.Library(name, str(installed))) is expected
    inner = libraries.find_library(str(installed / "old" / "inner.py"))
    assert inner == libraries.Library("old", str(installed))
    assert libraries.find_library(str(installed.parent / "script.py")) is None


PROGRAM = """
import sys
sys.path.append(sys.argv[1])
{imports}
"""


def test_only_an_old_library_sees_old_names(run, installed):
    program = PROGRAM.format(
        imports="import old.inner, today, alone, estimator_train\n"
        "print(old.inner.Estimator.__module__.split('.')[0], old.inner.INT, old.inner.KERAS)\n"
        "print(today.HAS, today.KERAS, hasattr(alone.estimator, 'Estimator'))\n"
    )
    lines = run(program, str(installed)).stdout.splitlines()
    assert lines == ["estimator_train <class 'int'> tf_keras", "True keras True"]


def test_library_of_tensorflow_1_sees_tensorflow_1(run, installed):
    program = PROGRAM.format(
        imports="import first\nprint(first.VERSION, first.OPTIMIZER.__name__)\n"
    )
    done = run(program, str(installed), switches=["--tf1"])
    assert done.stdout == "1.15.5 GradientDescentOptimizer\n"


def test_libraries_determine_the_generation_of_an_inconclusive_script(
    tmp_path, installed, monkeypatch
):
    import tensorflow as tf

    from estimator_train.legacy import generation

    monkeypatch.setattr(generation.site, "getsitepackages", lambda: [str(installed)])
    script = tmp_path / "script.py"
    script.write_text("import tensorflow as tf\nimport first\ntf.estimator.Estimator\n")
    assert generation.detect_for_script(str(script), tf) == "tf1"
    script.write_text("import tensorflow as tf\nimport first\ntf.summary.create_file_writer\n")
    assert generation.detect_for_script(str(script), tf) == "tf2"
    script.write_text("import old\n")
    assert generation.detect_for_script(str(script), tf) == "tf2"
    assert "first" not in sys.modules


def test_a_library_in_a_folder_of_pip_target_sees_old_names(run, tmp_path, monkeypatch):
    folder = tmp_path / "vendored"
    (folder / "old").mkdir(parents=True)
    (folder / "old" / "__init__.py").write_text(
        "import tensorflow as tf\nimport keras\nKERAS = keras.layers.Dense.__module__[:8]\n"
        "from tensorflow.contrib import layers\n"
    )
    about = folder / "old-1.0.dist-info"
    about.mkdir()
    (about / "RECORD").write_text("old/__init__.py,sha256=a,9\nold-1.0.dist-info/RECORD,,\n")
    source = str(folder / "old" / "__init__.py")
    assert libraries.find_library(source) == libraries.Library("old", str(folder))
    assert libraries.find_library(str(folder / "script.py")) is None
    program = "import sys\nimport old\nimport tensorflow as tf\nprint(old.KERAS, tf.VERSION[0])\n"
    assert run(program, switches=[], PYTHONPATH=str(folder)).stdout == "tf_keras 1\n"
