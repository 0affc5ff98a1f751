"""Installed packages that cannot run and code of Python 2 end with a one-line error."""

import pytest
import tiers

PACKAGES = {
    "fast": "import tensorflow as tf\ntf.load_op_library(__path__[0] + '/_ops.so')\n",
    "native": "import tensorflow.compat.v1 as tf\nfrom native import _speed\n",
    "inner": "import tensorflow as tf\nimport inner._speed\n",
    "lacking": "import tensorflow as tf\nimport another_library\n",
    "forest": "from tensorflow.contrib import tensor_forest\ntensor_forest.Trees\n",
    "strict": "import tensorflow as tf\nraise ValueError('Arg specs differ ' + 'x ' * 999)\n",
    "flagged": "import tensorflow as tf\nfrom absl import flags\nflags.DEFINE_nothing\n",
    "parsed": "import tensorflow as tf\nimport json\njson.loads(3)\n",
    "sound": "import tensorflow as tf\nKEYS = tf.estimator.ModeKeys\ndef f(): return 1 / 0\n",
}
METADATA = """Metadata-Version: 2.1
Name: py-{name}
Version: 0.3
"""
PINS = """Requires-Dist: tensorflow <2.16.0,>=1.15
Requires-Dist: tensorflow-gpu (==1.15) ; extra == 'gpu'
"""


@pytest.fixture
def installed(tmp_path):
    folder = tmp_path / "site-packages"
    for name, source in PACKAGES.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text(source)
        about = folder / f"py_{name}-0.3.dist-info"
        about.mkdir()
        pins = "" if name == "strict" else PINS
        (about / "METADATA").write_text(METADATA.format(name=name) + pins)
        (about / "top_level.txt").write_text(f"{name}\n")
    return folder


EXPECTED = {
    "fast": ["py-fast 0.3: its compiled part ", "_ops.so cannot be loaded", "TensorFlow 2."],
    "native": ["py-native 0.3 is installed without its module native._speed", "build it"],
    "inner": ["py-inner 0.3 is installed without its module inner._speed"],
    "lacking": ["py-lacking 0.3 needs the module another_library", "pip install"],
    "forest": [
        "py-forest 0.3 requires tensorflow<2.16.0,>=1.15, and its import fails with TensorFlow 2.",
        "tensor_forest.Trees does not exist any more",
        "estimator-train check",
    ],
    # Not TensorFlow's fault, although the packages require another TensorFlow.
    "flagged": ["line 3: absl-py ", " has no absl.flags.DEFINE_nothing."],
    "parsed": ["py-parsed 0.3: its import fails with Python 3.", "(TypeError: the JSON object"],
    "strict": [
        "py-strict 0.3: its import fails with TensorFlow 2.",
        "(ValueError: Arg specs differ x x ",
        "x ...). Install another version of py-strict.",
    ],
}


@pytest.mark.parametrize("name", tiers.every(3, EXPECTED))
def test_package_that_cannot_run_ends_with_one_line(run, installed, name):
    program = f"import sys\nsys.path.append(sys.argv[1])\nimport {name}\n"
    done = run(program, installed, exit_code=2, switches=["--tf1"])
    (line,) = [text for text in done.stderr.splitlines() if "error" in text]
    assert line.startswith("estimator-train: error: ")
    assert "Traceback" not in done.stderr
    for part in EXPECTED[name]:
        assert part in line


def test_a_package_in_a_namespace_is_named_by_its_files(run, installed):
    for name in "one", "two":
        (installed / "space" / name).mkdir(parents=True)
        (installed / "space" / name / "__init__.py").write_text("import another_library\n")
        about = installed / f"space_{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: space-{name}\nVersion: 1.0\n"
        )
        (about / "RECORD").write_text(f"space/{name}/__init__.py,,\n")
    for name in "one", "two":
        program = f"import sys\nsys.path.append(sys.argv[1])\nimport space.{name}\n"
        done = run(program, installed, exit_code=2, switches=["--tf1"])
        assert f"error: space-{name} 1.0 needs the module another_library" in done.stderr


def test_errors_of_the_program_keep_their_traceback_and_debug_shows_all_others(run, installed):
    start = "import sys\nsys.path.append(sys.argv[1])\n"
    done = run(f"{start}import sound\nsound.f()\n", installed, exit_code=1)
    assert done.stderr.splitlines()[-1] == "ZeroDivisionError: division by zero"
    done = run(f"{start}import forest\n", installed, exit_code=2, switches=["--tf2"])
    assert "tf.contrib is TensorFlow 1's: `estimator-train run --tf1" in done.stderr
    done = run(f"{start}import lacking\n", installed, exit_code=2, switches=["--debug"])
    assert "ModuleNotFoundError: No module named 'another_library'" in done.stderr


def test_errors_of_a_program_that_is_installed_keep_their_traceback(run, installed):
    (installed / "sound" / "train.py").write_text("import tensorflow as tf\nprint(1 / 0)\n")
    done = run("-m", "sound.train", exit_code=1, switches=[], PYTHONPATH=str(installed))
    assert done.stderr.splitlines()[-1] == "ZeroDivisionError: division by zero"


def test_an_extra_that_needs_another_tensorflow_is_no_reason(run, installed):
    about = installed / "py_forest-0.3.dist-info" / "METADATA"
    extras = (
        "Requires-Dist: tensorflow==2.11.0; extra == 'a'\nRequires-Dist: tensorflow; extra == 'b'\n"
    )
    about.write_text(f"Metadata-Version: 2.1\nName: py-forest\nVersion: 0.3\n{extras}")
    program = "import sys\nsys.path.append(sys.argv[1])\nimport forest\n"
    done = run(program, installed, exit_code=2, switches=["--tf1"])
    assert "tensor_forest.Trees does not exist any more" in done.stderr
    assert "2.11.0" not in done.stderr


SOURCES = {
    "print 'a'\n": "line 1: this is Python 2: it uses the print statement",
    "try:\n  pass\nexcept OSError, e:\n  pass\n": "line 3: this is Python 2: it catches an error",
    "x = = 1\n": "line 1: invalid syntax",
}


@pytest.mark.parametrize("source", SOURCES)
def test_syntax_errors_end_with_one_line(run, tmp_path, source):
    (tmp_path / "helpers.py").write_text(source)
    for program, name in ((source, "script.py"), ("# A script.\nimport helpers\n", "helpers.py")):
        done = run(program, exit_code=2)
        assert done.stderr.splitlines()[-1].startswith("estimator-train: error: ")
        assert f"{name}, {SOURCES[source]}" in done.stderr
        assert "Traceback" not in done.stderr
