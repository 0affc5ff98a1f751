"""The Dockerfile of the docs, as far as it can be checked without building an image."""

import json
import re
from pathlib import Path

import flags
from estimator_train.cli import main

ROOT = Path(__file__).parents[2]
PROJECT = (ROOT / "pyproject.toml").read_text()
PAGE = (ROOT / "docs/containers.md").read_text()
DOCKERFILE = re.search(r"```dockerfile\n(.*?)```", PAGE, re.DOTALL)[1]
INSTRUCTIONS = {"FROM", "RUN", "WORKDIR", "COPY", "USER", "ENTRYPOINT", "CMD"}


def instructions() -> list[tuple[str, str]]:
    """Returns the instructions with their arguments, without comments and continued lines."""
    text = re.sub(r"^#.*\n", "", DOCKERFILE, flags=re.MULTILINE).replace("\\\n", " ")
    return [tuple(line.split(maxsplit=1)) for line in text.splitlines() if line.strip()]


def test_the_image_has_a_supported_python_and_known_instructions():
    assert {name for name, _ in instructions()} == INSTRUCTIONS
    version = re.fullmatch(r"python:(3\.\d+)-slim", dict(instructions())["FROM"])[1]
    assert f'"Programming Language :: Python :: {version}"' in PROJECT


def test_the_entry_point_is_the_command_in_the_exec_form():
    values = dict(instructions())
    (command,) = json.loads(values["ENTRYPOINT"])
    assert f'\n{command} = "' in PROJECT
    name, preset_flag, preset, model_dir = json.loads(values["CMD"])
    assert name in {command.name for command in main.COMMANDS}
    assert (preset_flag, preset in flags.preset_names()) == ("--preset", True)
    assert model_dir.startswith(f"--model_dir={values['WORKDIR']}/")


def test_the_image_copies_the_clone_and_installs_it():
    steps = instructions()
    copied = steps.index(("COPY", ". /src"))
    install = next(i for i, (_, rest) in enumerate(steps) if "pip install" in rest)
    assert copied < install
    assert "/src" in steps[install][1]
    user = next(i for i, (name, _) in enumerate(steps) if name == "USER")
    assert install < user
