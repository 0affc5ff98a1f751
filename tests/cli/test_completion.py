"""`estimator-train completion`: the offers of a real bash, and the parts of the zsh script."""

import pytest
from processes import run_process

from estimator_train.cli.main import COMMANDS


@pytest.fixture
def offered(command):
    """Returns a function from the words of an unfinished command line to bash's completions."""
    script = command("completion", "bash").out

    def ask(*words):
        quoted = " ".join(f"'{word}'" for word in words)
        program = f"{script}\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}\n"
        # compopt works only while bash itself completes.
        program += 'compopt() { :; }\n_estimator_train\nprintf "%s\\n" "${COMPREPLY[@]}"'
        outcome = run_process(["bash", "-c", program])
        assert outcome.stderr == ""
        return outcome.stdout.split()

    return ask


def test_bash_offers_commands_flags_and_values(offered):
    names = [command.name for command in COMMANDS]
    assert offered("estimator-train", "") == [*names, "--help", "--version"]
    assert offered("estimator-train", "tr") == ["train"]
    assert offered("estimator-train", "train", "--pres") == ["--preset="]
    assert offered("estimator-train", "train", "--eval_s") == ["--eval_steps="]
    assert "--eval" in offered("estimator-train", "train", "--ev")
    assert offered("estimator-train", "train", "--preset", "=", "di") == ["digits"]
    assert offered("estimator-train", "train", "--preset", "=") == [
        "digits",
        "fashion_mnist",
        "oct",
    ]
    assert offered("estimator-train", "run", "--tf") == ["--tf1", "--tf2"]
    assert offered("estimator-train", "train", "--model_dir", "=", "x") == []


def test_zsh_gets_the_help_of_each_flag(command):
    script = command("completion", "zsh").out
    assert script.endswith("compdef _estimator_train estimator-train\n")
    assert "'train:train, evaluate and export a model'" in script
    assert "'--clean[Remove --model_dir first, to start over.]'" in script
    assert ":value:(digits fashion_mnist oct)'" in script


def test_unknown_shells_are_rejected(command):
    outcome = command("completion", "fish")
    assert outcome.code == 2
    assert outcome.err == (
        "estimator-train: error: completion needs one of bash, zsh, got 'fish'.\n"
    )
