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
    """A command's name, a line about it, the module that does it, and if it runs a program.

    One that `parses_itself` has, instead of `run` and FLAGS, a `main` that gets its arguments, and
    SWITCHES, which are completed.
    """

    name: str
    summary: str
    module: str
    takes_program: bool = False
    arguments: str = ""  # What else than flags it takes, as help names it.
    parses_itself: bool = False
    loads_tensorflow: bool = True  # Before it runs, without the noise of loading.

    def load(self) -> Module:
        """Imports the command's module."""
        return cast(Module, importlib.import_module(self.module))


COMMANDS = (
    Command("train", "train a model, evaluate and export it", "estimator_train.cli.commands.train"),
    Command("evaluate", "print a checkpoint's metrics", "estimator_train.cli.commands.evaluate"),
    Command("predict", "write predictions, one a line", "estimator_train.cli.commands.predict"),
    Command("export", "write a SavedModel", "estimator_train.cli.commands.export"),
    Command(
        "to-keras",
        "write a trained model as a Keras model",
        "estimator_train.cli.commands.to_keras",
        arguments="MODEL_DIR",
    ),
    Command(
        "run", "run an old script as it is", "estimator_train.cli.commands.run", parses_itself=True
    ),
    Command(
        "data", "show what an input_fn delivers, and how fast", "estimator_train.cli.commands.data"
    ),
    Command(
        "check", "tell what of it runs", "estimator_train.cli.commands.check", parses_itself=True
    ),
    Command(
        "launch",
        "run a program as a cluster",
        "estimator_train.cli.commands.launch",
        True,
        loads_tensorflow=False,
    ),
    Command(
        "manifest",
        "the same for a scheduler",
        "estimator_train.cli.commands.manifest",
        True,
        loads_tensorflow=False,
    ),
    Command(
        "report",
        "draw plots of trainings",
        "estimator_train.cli.commands.report",
        arguments="MODEL_DIR...",
    ),
    Command(
        "doctor",
        "tell what would keep a job from running here",
        "estimator_train.cli.commands.doctor",
        loads_tensorflow=False,
    ),
    Command(
        "completion",
        "print what completes commands in a shell",
        "estimator_train.cli.commands.completion",
        arguments="bash|zsh",
        loads_tensorflow=False,
    ),
)
