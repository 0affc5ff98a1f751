"""A program that lacks something ends with one line: the place, the thing, and what to do."""

import pytest
import tiers

LACKS = {
    "tf.contrib.learn.Foo": (
        "line 2: tf.contrib.learn.Foo has no replacement here.",
        "`estimator-train check`",
    ),
    "from tensorflow.contrib.learn import Foo; Foo()": (
        "line 2: tf.contrib.learn.Foo has no replacement here.",
    ),
    "from tensorflow.models.research.slim.nets import vgg": (
        "line 2: tf.models does not exist any more. Use a clone of the repository",
        "PYTHONPATH",
    ),
    "from scipy.misc import derivative": (
        "line 2: scipy ",
        " has no scipy.misc.derivative. Install a version",
        "`pip install 'scipy<1.12'`",
    ),
    "import pandas; pandas.Panel": (" has no pandas.Panel.", "`pip install 'pandas<0.25'`"),
    "import random; random.jumpahead(1)": ("line 2: random.jumpahead does not exist in Python 3.",),
    "raise ModuleNotFoundError('No module named', name='imghdr')": (
        "the module imghdr is not installed: run `pip install 'standard-imghdr'`",
    ),
    "import no_such_module.inner": (
        "line 2: the module no_such_module is not installed: `pip install` it",
    ),
    "raise ModuleNotFoundError('No module named', name='cv2.inner')": (
        "the module cv2.inner is not installed: run `pip install 'opencv-python'`",
    ),
    "import google.colab.drive": ("line 2: the module google.colab is not installed: `pip",),
    "raise ModuleNotFoundError('No module named', name='google.cloud.storage')": (
        "run `pip install 'google-cloud-storage'`",
    ),
    "import absl.flags; absl.flags.DEFINE_nothing": (
        "line 2: absl-py ",
        # No known version has the name.
        " has no absl.flags.DEFINE_nothing. Install the version that the program was written for",
    ),
    "from absl.flags import DEFINE_nothing": (" has no absl.flags.DEFINE_nothing.",),
    "import urllib.request; urllib.request.urlopen('http://no-such-host.invalid/x')": (
        "line 2: the program downloads a file, and this machine cannot reach the server (",
        "put it where the program looks for it.",
    ),
    "tf.keras.utils.get_file('x.csv', 'http://no-such-host.invalid/x.csv')": (
        "line 2: the program downloads http://no-such-host.invalid/x.csv, and this machine",
    ),
    "raise TypeError('only 0-dimensional arrays can be converted to Python scalars')": (
        "Python scalars, since NumPy 2.4. Use the element,",
        "`pip install 'numpy<2.4'`",
    ),
    "open('data/x')": ("line 2: data/x does not exist,", "working directory"),
    "tf.Session().run(tf.read_file('data/y'))": ("line 2: data/y does not exist,",),
    "tf.train.init_from_checkpoint('no/model', {'a': 'b'})": ("line 2: no/model does not exist,",),
    "tf.load_op_library('./ops.so')": ("the compiled operation ./ops.so cannot be loaded.",),
    "with tf.device('gpu:1'): tf.Session().run(tf.identity(tf.Variable(1.0), name='here'))": (
        "line 2: the program needs device:GPU:1, on which it places ",
        "allow_soft_placement",
    ),
}


@pytest.mark.parametrize("statement", tiers.every(3, LACKS))
def test_a_missing_name_prints_one_line(run, statement):
    done = run(f"import tensorflow as tf\n{statement}\n", exit_code=2, switches=["--tf1"])
    line = done.stderr.splitlines()[-1]
    assert line.startswith("estimator-train: error: script.py, line 2: ")
    assert "Traceback" not in done.stderr
    for part in LACKS[statement]:
        assert part in line


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (
            "import own.inner\n",
            "line 1: the program's own package own has no module own.inner. Add its file,",
        ),
        (
            "import no_one\nimport no_two.x\nfrom no_three import y\nimport own\n"
            "try:\n    import no_four\nexcept ImportError:\n    pass\n",
            "line 1: the module no_one is not installed: `pip install` it, or add the folder that "
            "contains it to PYTHONPATH. Also not installed: no_three, no_two.",
        ),
    ],
)
def test_missing_modules_of_the_program_and_of_others(run, tmp_path, program, text):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "__init__.py").touch()
    line = run(program, exit_code=2).stderr.splitlines()[-1]
    assert text in line
    assert ("pip install" in line) == ("no_one" in text)


def test_a_script_in_a_package_names_the_folder_that_is_missing(run, tmp_path):
    (tmp_path / "own_package").mkdir()
    script = tmp_path / "own_package" / "script.py"
    script.write_text("from own_package.part import x\n")
    line = run(str(script), exit_code=2).stderr.splitlines()[-1]
    assert "add the folder that contains the program's package own_package to PYTHONPATH." in line


_RAISED_AGAIN = """
def call(function, text):
    try:
        function()
    except Exception as error:
        class Longer(type(error)):
            def __init__(self): pass
            def __str__(self): return str(error) + text
        Longer.__name__ = type(error).__name__
        raise Longer().with_traceback(error.__traceback__) from None

def fail():
    {}

call(lambda: call(fail, "\\n  In file a.gin"), "\\n  In call to train")
"""


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (
            "import no_such_module.inner",
            "the module no_such_module is not installed: `pip install`",
        ),
        ("open('data/x')", "data/x does not exist,"),
        ("import scipy.misc; scipy.misc.derivative", " has no scipy.misc.derivative. Install a "),
    ],
)
def test_an_error_that_a_library_raises_again_prints_its_longer_text(run, statement, text):
    done = run(_RAISED_AGAIN.format(statement), exit_code=2)
    line = done.stderr.splitlines()[-1]
    assert line.startswith("estimator-train: error: script.py, line 13: ")
    assert text in line
    assert "Traceback" not in done.stderr


def test_debug_shows_where_and_without_frames_of_this_package(run):
    program = "import tensorflow as tf\ntry:\n  tf.contrib.Foo\nexcept Exception: 1 / 0\n"
    done = run(program, exit_code=1, switches=["--tf1"])
    assert done.stderr.splitlines()[-1] == "ZeroDivisionError: division by zero"
    assert "view.py" not in done.stderr.split("During handling")[-1]
    done = run("open('data/x')\n", exit_code=2, switches=["--debug"])
    assert "FileNotFoundError" in done.stderr
