"""The Pythons and TensorFlows that this package names, each in an environment of its own.

`nox` runs all and writes docs/versions.md; `nox -s "cell(3.12, 2.16)"` runs one. An environment
takes 2 GB, and is removed when its cell is done.
"""

import shutil

import nox

OLDER = ("2.16", "2.17", "2.18", "2.19")
NEWER = ("2.20", "2.21")
# Those that TensorFlow has wheels for.
CELLS = [
    (python, tensorflow)
    for python in ("3.10", "3.11", "3.12", "3.13")
    for tensorflow in (*(OLDER if python != "3.13" else ()), *NEWER)
]
RESULTS = "build/versions"


@nox.session
@nox.parametrize(
    ("python", "tensorflow"), CELLS, ids=[f"{python}, {release}" for python, release in CELLS]
)
def cell(session: nox.Session, tensorflow: str) -> None:
    """Installs one TensorFlow, and runs the main job and the quick tests."""
    try:
        session.install(f"tensorflow=={tensorflow}.*", f"tf-keras=={tensorflow}.*", "-e", ".[test]")
        session.run("python", ".ci/versions.py", "cell", RESULTS)
    finally:
        shutil.rmtree(session.virtualenv.location)


@nox.session(venv_backend="none")
def table(session: nox.Session) -> None:
    """Writes docs/versions.md."""
    session.run("python3", ".ci/versions.py", "table", RESULTS)
