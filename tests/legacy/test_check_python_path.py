"""`check` finds modules in the folders of PYTHONPATH, as `run` does."""

import forked
from legacy_programs import COMMAND, environment
from processes import run_process


def test_package_with_the_name_of_its_repository(tmp_path):
    package = tmp_path / "ranking" / "ranking"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "data.py").write_text("SIZE = 3\n")
    examples = tmp_path / "ranking" / "examples"
    examples.mkdir()
    (examples / "train.py").write_text("import tensorflow as tf\nfrom ranking.data import SIZE\n")

    def check(**variables):
        done = run_process(
            forked.python(COMMAND, "check", "train.py"),
            exit_code=None,
            cwd=examples,
            env=environment(**variables),
        )
        return "there is no module 'ranking.data'" in done.stdout

    assert check()
    assert not check(PYTHONPATH=str(tmp_path / "ranking"))
