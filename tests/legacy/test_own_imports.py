"""Finds files that cannot be imported from their sources."""

import ast

from estimator_train.legacy.reading import own_imports, symbols

FILES = {
    "job/__init__.py": "",
    "job/bad.py": "import os\nimport not_installed.inner\n",
    "job/through.py": "from job import bad\n",
    "job/further.py": "from .through import anything\n",
    "job/inner/__init__.py": "from .. import further\n",
    "job/inner/leaf.py": "",
    "job/lacking.py": "from . import os_tools\nfrom .nothing import name\n",
    "job/no_such.py": "import job.gone\n",
    "job/attribute.py": "from job import version, helpers\n",
    "job/raising.py": "try:\n  import not_installed\nexcept ImportError:\n  raise OSError\n",
    "job/helpers.py": (
        "import job, json.decoder, importlib.metadata, six.moves.urllib\n"
        "from job.helpers import itself\n"
        "def f(): import not_installed\n"
        "if job: import not_installed\n"
        "try:\n"
        "  import not_installed\n"
        "except (ImportError, KeyError):\n"
        "  not_installed = None\n"
        "import tensorflow.contrib.gone\n"
        "import keras.layers.core\n"
    ),
    "job/known.py": "print 1\n",
    "job/of_known.py": "import job.known as known\n",
    "scripts/main.py": "import beside\nfrom job.helpers import itself\n",
    "scripts/beside.py": "",
}


def problems(folder, known):
    trees = {}
    for name, source in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
        trees[path] = None if name in known else ast.parse(source)
    known = {folder / name: text for name, text in known.items()}
    found = own_imports.find_problems(trees, known, folder)
    return {str(path.relative_to(folder)): text for path, text in found.items()}


def test_missing_modules_and_all_files_that_import_them(tmp_path):
    found = problems(tmp_path, {"job/known.py": "line 1: this is Python 2"})
    bad = f"imports a module that fails, {tmp_path}/job/bad.py, line 2: "
    gone = "there is no module 'not_installed'"
    assert found == {
        "job/bad.py": f"line 2: {gone}",
        "job/through.py": f"line 1: {bad}{gone}",
        "job/further.py": f"line 1: {bad}{gone}",
        "job/inner/__init__.py": f"line 1: {bad}{gone}",
        "job/inner/leaf.py": f"its package {bad}{gone}",
        "job/lacking.py": "line 2: there is no module 'nothing'",
        "job/no_such.py": "line 1: there is no module 'job.gone'",
        "job/raising.py": "line 2: there is no module 'not_installed'",
        "job/known.py": "line 1: this is Python 2",
        "job/of_known.py": (
            f"line 1: imports a module that fails, {tmp_path}/job/known.py, "
            "line 1: this is Python 2"
        ),
    }


def test_names_that_every_import_evaluates():
    source = (
        "import tensorflow as tf\n"
        "def f(x=tf.a): return tf.b\n"
        "class C(tf.c):\n"
        "  d = tf.d\n"
        "  def g(self): return lambda: tf.e\n"
        "h = lambda x=tf.h: tf.i\n"
        "j = tf.j if tf.k else tf.m\n"
        "n = tf.n or tf.o\n"
        "try:\n"
        "  tf.p\n"
        "except ValueError:\n"
        "  tf.q\n"
        "try:\n"
        "  tf.r\n"
        "except AttributeError:\n"
        "  tf.s\n"
        "finally:\n"
        "  tf.t\n"
    )
    certain = {
        use.symbol.removeprefix("tensorflow.") for use in symbols.find_uses(source) if use.at_import
    }
    assert certain == {"a", "c", "d", "h", "k", "n", "p", "t"}
