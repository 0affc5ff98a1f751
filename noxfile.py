"""Sessions: lint, tests, docs, the lowest dependencies, and every Python and TensorFlow.

`nox -s lint tests docs` runs what a change must pass, except for the slow tests. `nox -s cell` runs
all supported versions, each in a separate environment of 2 GB, which it removes at the end of its
cell; `nox -s "cell(3.12, 2.16)"` runs one cell, `nox -s tier` the first tier on the oldest and
newest versions, and `nox -s table` writes docs/versions.md.
"""

import re
import shutil

import nox

OLDER = ("2.16", "2.17", "2.18", "2.19")
NEWER = ("2.20", "2.21")
# TensorFlow has wheels for these combinations.
CELLS = [
    (python, tensorflow)
    for python in ("3.10", "3.11", "3.12", "3.13")
    for tensorflow in (*(OLDER if python != "3.13" else ()), *NEWER)
]
# The oldest and the newest TensorFlow, each with its oldest and its newest Python.
CORNERS = [("3.10", "2.16"), ("3.12", "2.16"), ("3.10", "2.21"), ("3.13", "2.21")]
RESULTS = "build/versions"

nox.options.sessions = ["lint", "tests", "docs"]


@nox.session
def lint(session: nox.Session) -> None:
    """Checks style, layers and types."""
    session.install("-e", ".[lint]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("lint-imports", "--no-cache")
    session.run("mypy")


@nox.session
def tests(session: nox.Session) -> None:
    """Runs the first tier of tests, or pytest with the given arguments."""
    session.install("-e", ".[test]")
    session.run("pytest", "-q", *(session.posargs or ("-n", "auto", "--dist=worksteal")))


@nox.session
def docs(session: nox.Session) -> None:
    """Builds the site in build/site, and checks its links."""
    session.install("-e", ".[test,docs]")
    session.run("mkdocs", "build", "--quiet", "--strict")
    session.run("pytest", "-q", "-m", "long or not long", "tests/docs/test_site.py")


@nox.session
@nox.parametrize(
    ("python", "tensorflow"), CELLS, ids=[f"{python}, {release}" for python, release in CELLS]
)
def cell(session: nox.Session, tensorflow: str) -> None:
    """Installs one TensorFlow, and runs the main job and the quick tests."""
    run_cell(session, f"tensorflow=={tensorflow}.*", f"tf-keras=={tensorflow}.*")


@nox.session
@nox.parametrize(("python", "tensorflow"), CORNERS, ids=[", ".join(corner) for corner in CORNERS])
def tier(session: nox.Session, tensorflow: str) -> None:
    """Installs an oldest or newest TensorFlow, and runs the main job and the first tier."""
    run_cell(session, f"tensorflow=={tensorflow}.*", f"tf-keras=={tensorflow}.*", command="tier")


@nox.session(python="3.10")
def lowest(session: nox.Session) -> None:
    """Runs the main job and the quick tests with the lower bounds of all dependencies."""
    bounds = nox.project.load_toml("pyproject.toml")["project"]["dependencies"]
    run_cell(session, *(re.sub(r">=([\d.]+).*", r"==\1", bound) for bound in bounds))


def run_cell(session: nox.Session, *requirements: str, command: str = "cell") -> None:
    """Runs the main job and tests with these requirements."""
    try:
        session.install(*requirements, "-e", ".[test]")
        session.run("python", ".ci/versions.py", command, RESULTS)
    finally:
        shutil.rmtree(session.virtualenv.location)


@nox.session(venv_backend="none")
def table(session: nox.Session) -> None:
    """Writes docs/versions.md."""
    session.run("python3", ".ci/versions.py", "table", RESULTS)
