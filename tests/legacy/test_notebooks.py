"""`run` and `check` take the code cells of a notebook."""

import json

import forked
from legacy_programs import COMMAND, environment
from processes import run_process

CELLS = [
    ("markdown", "# A notebook\nprint('no')"),
    ("code", "%matplotlib inline\n!nvidia-smi\nimport tensorflow as tf\ntf.Session?"),
    ("code", "%%bash\nexit 1"),
    ("code", "%%time\nsize = 3\nfiles = !ls\nassert files == []"),
    ("code", "%%writefile written.py\nSIZE = 'é'\n\n"),
    ("code", "%%writefile -a written.py\nMORE = 1\n"),
    ("code", "from written import MORE, SIZE\nassert (MORE, SIZE, size) == (1, 'é', 3)"),
    ("code", "if True:\n    %time"),
    ("code", "with tf.Session() as session:\n    print(session.run(tf.constant(3)))"),
]


def write(path, cells, **more):
    cells = [{"cell_type": kind, "source": text.splitlines(True)} for kind, text in cells]
    path.write_text(json.dumps({"cells": cells, "nbformat": 4, **more}))
    return path


def test_notebook_runs_as_the_script_of_its_cells(run, tmp_path):
    done = run(str(write(tmp_path / "a.ipynb", CELLS, null=None)), switches=())
    assert done.stdout == "3\n"


def test_tracebacks_quote_the_cells(run, tmp_path):
    notebook = write(tmp_path / "a.ipynb", [("code", "x = 1"), ("code", "print(x / 0)")])
    done = run(str(notebook), switches=(), exit_code=1)
    assert 'a.ipynb", line 2' in done.stderr
    assert "print(x / 0)" in done.stderr


def test_a_file_that_is_not_a_notebook_ends_with_one_line(run, tmp_path):
    (tmp_path / "a.ipynb").write_text("print(1)\n")
    done = run(str(tmp_path / "a.ipynb"), switches=(), exit_code=2)
    assert "a.ipynb: this is no notebook of format 4" in done.stderr
    assert "Traceback" not in done.stderr


def test_check_reads_a_notebook(tmp_path):
    write(tmp_path / "a.ipynb", [*CELLS, ("code", "tf.contrib.learn.Foo")])
    done = run_process(
        forked.python(COMMAND, "check", tmp_path / "a.ipynb"), exit_code=1, env=environment()
    )
    assert "tf.contrib.learn.Foo" in done.stdout
    assert "tf1" in done.stdout
