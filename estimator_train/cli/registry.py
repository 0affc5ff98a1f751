"""The commands there are. A new one is a module and a line here."""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from absl import flags as absl_flags


class Module(Protocol):
    """What a command's module has; it must not import TensorFlow before `run` is called."""

    DESCRIPTION: str
    FLAGS: Sequence[Callable[[absl_flags.FlagValues], None]]

    def run(self, flag_values: absl_flags.FlagValues, *rest: Sequence[str]) -> int | None:
        """Runs the command; `rest` is what follows its flags, if it takes that.

        Returns:
          The exit code; None for 0.
        """


@dataclass(frozen=True)
class Command:
    """A command's name, which is also its module's, a line about it, and if it runs a program.

    One that `parses_itself` has, instead of `run` and FLAGS, a `main` that gets its arguments, and
    SWITCHES, which are completed.
    """

    name: str
    summary: str
    takes_program: bool = False
    arguments: str = ""  # What else than flags it takes, as help names it.
    parses_itself: bool = False
    loads_tensorflow: bool = True  # Before it runs, without the noise of loading.

    def load(self) -> Module:
        """Imports the command's module."""
        name = self.name.replace("-", "_")
        return cast(Module, importlib.import_module(f"estimator_train.cli.commands.{name}"))


COMMANDS = (
    Command("train", "train a model, evaluate and export it"),
    Command("evaluate", "print a checkpoint's metrics"),
    Command("predict", "write predictions, one a line"),
    Command("export", "write a SavedModel"),
    Command("to-keras", "write a trained model as a Keras model", arguments="MODEL_DIR"),
    Command("run", "run an old script as it is", parses_itself=True),
    Command("data", "show what an input_fn delivers, and how fast"),
    Command("check", "tell what of it runs", parses_itself=True),
    Command("launch", "run a program as a cluster", takes_program=True, loads_tensorflow=False),
    Command("manifest", "the same for a scheduler", takes_program=True, loads_tensorflow=False),
    Command("report", "draw plots of trainings", arguments="MODEL_DIR..."),
    Command("doctor", "tell what would keep a job from running here", loads_tensorflow=False),
    Command(
        "completion",
        "print what completes commands in a shell",
        arguments="bash|zsh",
        loads_tensorflow=False,
    ),
)
