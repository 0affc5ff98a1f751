"""Programs that import a clone of tensorflow/models as `tensorflow.models`."""

import pytest

from estimator_train.legacy.report import report


@pytest.fixture
def clone(tmp_path):
    """Returns the folder of a clone of tensorflow/models, with one network."""
    nets = tmp_path / "clones" / "models" / "research" / "slim" / "nets"
    nets.mkdir(parents=True)
    for folder in (nets, *nets.parents[:3]):
        (folder / "__init__.py").touch()
    (nets / "vgg.py").write_text(
        "import tensorflow as tf\nslim, number = tf.contrib.slim, 16\nprint('imported')\n"
    )
    return str(tmp_path / "clones")


USES_MODELS = (
    "import tensorflow as tf\n"
    "from tensorflow.models.research.slim.nets import vgg\n"
    "import tensorflow.models.research.slim.nets.vgg as same\n"
    "print(vgg.number, same is vgg, vgg.slim is tf.contrib.slim)\n"
)


def test_models_of_a_clone_on_the_path_are_those_of_tensorflow(run, clone):
    done = run(USES_MODELS, switches=["--tf1"], PYTHONPATH=clone)
    assert done.stdout == "imported\n16 True True\n"


def test_check_finds_a_clone_without_running_it(clone, tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(clone)
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "train.py").write_text(USES_MODELS)
    (found,) = report(str(tmp_path / "job"))
    assert {symbol.status for symbol in found.symbols if "models" in symbol.name} == {"unchanged"}
    assert (found.import_problem, capsys.readouterr().out) == ("", "")
