"""Records what the original answers: `python tests/oracle/record.py [--help] [NAME ...]`.

README.md beside this file tells which interpreters it takes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden"
CONTRIB = "contrib_"


def contrib() -> list[str]:
    """The golden files of tf.contrib, one for each file of questions."""
    asks = sorted((HERE / "contrib").glob("ask_*.py"))
    return [CONTRIB + path.stem.removeprefix("ask_") for path in asks]


def main() -> None:
    # Importing the recordings loads TensorFlow; who records tf.contrib has none of that version.
    from recordings import OF_OURS, RECORDINGS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="golden files; all by default")
    parser.add_argument("--tf1", help="a Python with tensorflow==1.15.5, for contrib_*")
    parser.add_argument("--ours", help=f"one with estimator_train, for {' and '.join(OF_OURS)}")
    asked = parser.parse_args()
    for name in asked.names or [*RECORDINGS, *contrib()]:
        needed = "tf1" if name in contrib() else "ours" if name in OF_OURS else None
        if name not in RECORDINGS and needed is None:
            parser.error(f"{name}: there is no such recording, but {[*RECORDINGS, *contrib()]}")
        if needed and not getattr(asked, needed):
            print(f"{name}: left as it is, for it needs --{needed}=PYTHON", flush=True)
        elif needed == "tf1":
            ask = HERE / "contrib" / f"ask_{name.removeprefix(CONTRIB)}.py"
            _run(asked.tf1, ask, GOLDEN / f"{name}.json")
            _note(asked.tf1, name)
        elif needed == "ours":
            with tempfile.TemporaryDirectory() as directory:
                _run(asked.ours, HERE / "write_ours.py", directory)
                _run(sys.executable, HERE / "recordings.py", name, directory)
        else:
            _run(sys.executable, HERE / "recordings.py", name)


def _run(python: str, *arguments: object) -> None:
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    subprocess.run([python, *map(str, arguments)], check=True, env=environment)


def _note(python: str, name: str) -> None:
    """Notes which versions an interpreter of TensorFlow 1 has."""
    import goldens

    program = "import platform, tensorflow as t; print(t.__version__, platform.python_version())"
    said = subprocess.run([python, "-c", program], check=True, capture_output=True, text=True)
    tensorflow, version = said.stdout.split()
    goldens.note_version(name, f"TensorFlow {tensorflow}", version)


if __name__ == "__main__":
    main()
