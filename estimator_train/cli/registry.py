"""The table of commands. A new command needs a module in `commands/` and a line here."""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from absl import flags as absl_flags


class CommandModule(Protocol):
    """Interface of a command's module, which must not import TensorFlow before `run` is called."""

    DESCRIPTION: str
    FLAGS: Sequence[Callable[[absl_flags.FlagValues], None]]

    def run(self, flag_values: absl_flags.FlagValues, *arguments: Sequence[str]) -> int | None:
        """Runs the command.

        Args:
          flag_values: The parsed flags.
          *arguments: The arguments after the flags, if the command takes any.

        Returns:
          The exit code; None for 0.
        """


@dataclass(frozen=True)
class Command:
    """Description of a command.

    Attributes:
      name: Name of the command and of its module.
      summary: One line for `--help`.
      takes_program: Whether a program and its arguments follow "--".
      arguments: Positional arguments in the words of `--help`; "" if there are none.
      parses_itself: Whether the module has, instead of `run` and FLAGS, a function `main` that
        takes the arguments, and SWITCHES for the completion in shells.
      loads_tensorflow: Whether to load TensorFlow before the command runs, without its messages.
    """

    name: str
    summary: str
    takes_program: bool = False
    arguments: str = ""
    parses_itself: bool = False
    loads_tensorflow: bool = True

    def load(self) -> CommandModule:
        """Imports the module of the command."""
        name = self.name.replace("-", "_")
        return cast(CommandModule, importlib.import_module(f"estimator_train.cli.commands.{name}"))


COMMANDS = (
    Command("train", "train, evaluate and export a model"),
    Command("evaluate", "print the metrics of a checkpoint"),
    Command("predict", "write one line for each prediction"),
    Command("export", "write a SavedModel of a checkpoint"),
    Command("to-keras", "convert a trained model to a Keras model file", arguments="MODEL_DIR"),
    Command(
        "convert-trees",
        "convert a SavedModel of boosted trees of tf.estimator",
        arguments="OLD_DIR NEW_DIR",
    ),
    Command("run", "run an unchanged script that uses old TensorFlow APIs", parses_itself=True),
    Command(
        "install-shim",
        "show tf.estimator to all programs of an environment",
        loads_tensorflow=False,
    ),
    Command("data", "show the examples of an input_fn and measure its speed"),
    Command("check", "report which parts of a codebase run here", parses_itself=True),
    Command(
        "launch",
        "run a program as a cluster on this machine",
        takes_program=True,
        loads_tensorflow=False,
    ),
    Command(
        "manifest",
        "print the description of a cluster job for Kubernetes or Slurm",
        takes_program=True,
        loads_tensorflow=False,
    ),
    Command(
        "task",
        "run a program as one task of a cluster of pods",
        takes_program=True,
        loads_tensorflow=False,
    ),
    Command("report", "plot the history of one or more trainings", arguments="MODEL_DIR..."),
    Command(
        "validate",
        "compare a training with tf.estimator and one with this package",
        takes_program=True,
        arguments="OLD_MODEL_DIR NEW_MODEL_DIR",
    ),
    Command("doctor", "report problems that keep jobs from running here", loads_tensorflow=False),
    Command(
        "completion",
        "print a script that completes commands and flags in a shell",
        arguments="bash|zsh",
        loads_tensorflow=False,
    ),
)
