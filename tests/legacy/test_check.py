"""`estimator-train check` reports which names of a codebase exist."""

import json
from pathlib import Path

import forked
from legacy_programs import COMMAND, environment
from processes import run_process

from estimator_train.cli.commands.old_programs import Check
from estimator_train.legacy.reading import symbols
from estimator_train.legacy.report import report


def test_names_are_resolved_through_imports_and_aliases():
    source = (
        "import tensorflow as tf\n"
        "import tensorflow.contrib.slim as slim\n"
        "from tensorflow.python.ops import array_ops as a\n"
        "layers = tf.contrib.layers\n"
        "layers.flatten(slim.conv2d(a.stack(1)))\n"
    )
    found = {(use.symbol, use.line) for use in symbols.find_uses(source)}
    assert found == {
        ("tensorflow.contrib.slim", 2),
        ("tensorflow.python.ops.array_ops", 3),
        ("tensorflow.contrib.layers", 4),
        ("tensorflow.contrib.layers.flatten", 5),
        ("tensorflow.contrib.slim.conv2d", 5),
        ("tensorflow.python.ops.array_ops.stack", 5),
    }


def test_report_of_a_directory(tmp_path):
    (tmp_path / "old.py").write_text(
        "import tensorflow as tf\n"
        "x = tf.placeholder(tf.float32)\n"
        "tf.contrib.layers.flatten(x)\n"
        "tf.contrib.boosted_trees.learner\n"
    )
    (tmp_path / "new.py").write_text("import tensorflow as tf\nprint(tf.function)\n")
    (tmp_path / "two.py").write_text("print 1\n")
    done = run_process(
        forked.python(COMMAND, "check", tmp_path, "--json"), exit_code=1, env=environment()
    )
    new, old, two = json.loads(done.stdout)
    assert (new["generation"], old["generation"]) == ("tf2", "tf1")
    found = {s["name"]: (s["status"], s["lines"]) for s in old["symbols"]}
    assert found["tf.placeholder"] == ("unchanged", [2])
    assert found["tf.contrib.layers.flatten"] == ("stand-in", [3])
    assert found["tf.contrib.boosted_trees.learner"] == ("missing", [4])
    assert "line 1: this is Python 2" in two["problem"]
    assert new["command"].startswith("estimator-train run ")


def test_names_that_are_bound_again_are_not_resolved():
    source = (
        "import tensorflow as tf\n"
        "layers = tf.layers\n"
        "def f(layers, x=tf.zeros):\n"
        "    layers.flatten(x)\n"
        "    import tensorflow.contrib.rnn as rnn\n"
        "    return [rnn.Cell for tf in tf.train.things]\n"
        "def g():\n"
        "    layers.dense, rnn.other\n"
        "class C(tf.Module):\n"
        "    layers = 3\n"
        "    def h(self): return layers.relu\n"
        "try:\n"
        "    import tensorflow.compat.v1 as v1\n"
        "except ImportError:\n"
        "    import other as v1\n"
        "v1.Session\n"
    )
    found = {use.symbol.removeprefix("tensorflow.") for use in symbols.find_uses(source)}
    assert found == {
        "layers",
        "zeros",
        "contrib.rnn",
        "contrib.rnn.Cell",
        "train.things",
        "layers.dense",
        "Module",
        "layers.relu",
        "compat.v1",
        "compat.v1.Session",
    }


def test_report_agrees_with_run(run, tmp_path):
    names = [
        "placeholder",
        "contrib.layers.flatten",
        "contrib.boosted_trees.learner",
        "estimator.Estimator",
    ]
    names += ["python.ops.array_ops.stack", "train.Saverr", "mul", "contrib.data.AUTOTUNE"]
    (tmp_path / "names.py").write_text(
        "import tensorflow as tf\n" + "".join(f"tf.{name}\n" for name in names)
    )
    (tmp_path / "asks.py").write_text(
        "import contextlib, io, json, operator, os, sys\n"
        "import estimator_train.cli.main as cli\n"
        "import tensorflow as tf\n"
        "out = io.StringIO()\n"
        "with contextlib.redirect_stdout(out):\n"
        "    cli.main(['check', 'names.py', '--json'])\n"
        "for symbol in json.loads(out.getvalue())[0]['symbols']:\n"
        "    name = symbol['name'].replace('tensorflow.', '').replace('tf.', '', 1)\n"
        "    try:\n"
        "        operator.attrgetter(name)(tf)\n"
        "        print(symbol['status'] in ('stand-in', 'unchanged'), symbol['lines'])\n"
        "    except AttributeError as error:\n"
        "        print(symbol['hint'] in str(error), symbol['status'], name)\n"
    )
    lines = run(str(tmp_path / "asks.py"), switches=["--tf1"]).stdout.splitlines()
    assert len(lines) == len(names)
    assert all(line.startswith("True") for line in lines), lines
    assert [line for line in lines if "[" not in line] == [
        "True missing contrib.boosted_trees.learner",
        "True mistake train.Saverr",
    ]


def test_an_unused_missing_name_does_not_end_the_import(tmp_path):
    statement = "from tensorflow.contrib.quantize import create_eval_graph as create, quantize\n"
    files = {
        "unused.py": f"{statement}def f(): create()\n",
        "used.py": f"{statement}print(4)\ncreate()\n",
        "base.py": "from tensorflow.contrib.rnn import Gone\nclass Cell(Gone): pass\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    problems = {Path(r.path).name: r.import_problem for r in report(str(tmp_path))}
    assert problems["unused.py"] == ""
    assert problems["used.py"].startswith("line 3: tf.contrib.quantize.create_eval_graph")
    assert problems["base.py"].startswith("line 2: tf.contrib.rnn.Gone")


def test_missing_names_of_tf_estimator_are_reported_as_missing_there(tmp_path, capsys):
    script = tmp_path / "script.py"
    script.write_text(
        "import tensorflow.compat.v1 as tf\n"
        "tf.disable_v2_behavior()\n"
        "def f():\n"
        "    tf.loggin.info(tf.summary.pr_curve)\n"
        "    from tensorflow.train import Saverr\n"
    )
    assert Check.main([str(script)]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    mistakes = [line for line in lines if line.startswith("mistake")]
    assert [line.partition("  fails in TensorFlow 2 too:  ")[0] for line in mistakes] == [
        "mistake   tf.compat.v1.loggin.info  (line 4)",
        "mistake   tf.compat.v1.summary.pr_curve  (line 4)",
        "mistake   tf.train.Saverr  (line 5)",
    ]
    with script.open("a") as file:
        file.write("tf.loggin\n")
    assert Check.main([str(script)]) == 1
    assert "cannot be imported: line 6: tf.compat.v1.loggin" in capsys.readouterr().out


def test_removed_and_private_names_are_not_reported_as_mistakes(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import tensorflow as tf\n"
        "def f():\n"
        "    tf.keras.experimental.PeepholeLSTMCell\n"
        "    tf.compat.v1.data.experimental.latency_stats\n"
        "    tf.python.no_such, tf.models.slim, tf._hidden\n"
    )
    (found,) = report(str(script))
    assert [symbol.status for symbol in found.symbols] == ["missing"] * 5


def test_findings_come_first_and_unchanged_names_are_counted(tmp_path, capsys):
    (tmp_path / "a.py").write_text("import tensorflow as tf\ntf.float32, tf.int32, tf.zeros\n")
    (tmp_path / "b.py").write_text("print 'old'\n")
    (tmp_path / "c.py").write_text("import tensorflow as tf\ntf.contrib.nothing\ntf.Session\n")
    assert Check.main([str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.rpartition("/")[2] for line in lines if line.startswith("/")] == [
        "b.py  (Python 2)",
        "c.py  (tf1)",
        "a.py  (tf2)",
    ]
    assert [line for line in lines if "unchanged" in line] == [
        "  unchanged 1 other names",
        "  unchanged 3 other names",
    ]
    assert not any("tf.float32" in line for line in lines)
