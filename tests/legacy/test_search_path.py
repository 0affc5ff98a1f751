"""Folders that a script adds to `sys.path`, read from its source."""

import ast

import pytest

from estimator_train.legacy.reading.search_path import find_added_folders
from estimator_train.legacy.report import report

ADDED = {
    "sys.path.append(os.path.join(HERE, 'models'))": ["job/models"],
    "sys.path.insert(0, os.path.dirname(os.path.abspath(HERE)) + '/tools')": ["tools"],
    "sys.path.extend([str(Path(__file__).resolve().parent / 'models'), '../tools'])": [
        "job/models",
        "tools",
    ],
    "sys.path += [str(Path(__file__).parents[1])]": ["."],
    "try:\n  import models\nexcept ImportError:\n  sys.path.append(join(HERE, 'models'))": [
        "job/models"
    ],
    "if HERE:\n  site.addsitedir(HERE + os.sep + 'models')": ["job/models"],
    "sys.path.append(os.environ['HOME'])\nsys.path.append(unknown)": [],
    "sys.path.append('no_such_folder')\nsys.argv.append('models')": [],
    "def f():\n  sys.path.append(HERE)": [],
    "sys.path.append(3 / HERE)\nsys.path.append(Path(HERE).parents[99])": [],
}
START = (
    "import os, site, sys\n"
    "from os.path import join\n"
    "from pathlib import Path\n"
    "HERE = os.path.dirname(os.path.realpath(__file__))\n"
)


@pytest.mark.parametrize("source", ADDED)
def test_folders_that_a_file_adds(tmp_path, source):
    for folder in ("job/models", "tools"):
        (tmp_path / folder).mkdir(parents=True)
    file = tmp_path / "job" / "train.py"
    found = find_added_folders(file, ast.parse(START + source))
    assert found == [tmp_path / folder for folder in ADDED[source]]


def test_check_finds_modules_in_added_folders(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "net.py").write_text("import tensorflow as tf\ntf.placeholder\n")
    script = tmp_path / "train.py"
    script.write_text(f"{START}sys.path.append(join(HERE, 'models'))\nimport net\n")
    main, net = report(str(script))
    assert (main.generation, net.generation) == ("tf1", "tf1")
    assert (main.import_problem, net.import_problem) == ("", "")
