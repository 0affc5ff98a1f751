"""Records what the original answers: `python tests/oracle/record.py [--help] [NAME ...]`.

README.md in this folder lists the interpreters that it needs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden"
CONTRIB = "contrib_"
TREES = (
    *("boosted_trees", "boosted_trees_collections"),
    *("boosted_trees_continued", "boosted_trees_exported", "boosted_trees_settings"),
)
TFJOB = "tfjob"
KUBERNETES = "kubernetes"
SCIPY_MISC = "scipy_misc"
REMOVED_NAMES = "removed_names"


def contrib() -> list[str]:
    """Returns the golden files of tf.contrib, one for each file of questions."""
    asks = sorted((HERE / "contrib").glob("ask_*.py"))
    return [CONTRIB + path.stem.removeprefix("ask_") for path in asks]


def main() -> None:
    # Imported here because they import TensorFlow: a wrong flag is reported without delay.
    from recordings import OF_OURS, RECORDINGS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="golden files; all by default")
    parser.add_argument("--tf1", help="a Python with tensorflow==1.15.5, for contrib_*")
    parser.add_argument("--trees", help=f"one with tensorflow==2.8.4, for {', '.join(TREES)}")
    parser.add_argument("--kubeflow", help=f"one with kubeflow-training, for {TFJOB}")
    parser.add_argument("--trainer", help=f"one with kubeflow-trainer-api, for {KUBERNETES}")
    parser.add_argument("--scipy", help=f"one with scipy==1.2.3 and pillow, for {SCIPY_MISC}")
    parser.add_argument("--removed", help=f"one with the libraries of 2019, for {REMOVED_NAMES}")
    parser.add_argument("--ours", help=f"one with estimator_train, for {', '.join(OF_OURS)}")
    asked = parser.parse_args()
    needs = {
        **dict.fromkeys(RECORDINGS),
        **dict.fromkeys(OF_OURS, "ours"),
        **dict.fromkeys(TREES, "trees"),
        **dict.fromkeys(contrib(), "tf1"),
        TFJOB: "kubeflow",
        KUBERNETES: "trainer",
        SCIPY_MISC: "scipy",
        REMOVED_NAMES: "removed",
    }
    for name in asked.names or needs:
        if name not in needs:
            parser.error(f"{name}: there is no such recording, but {', '.join(needs)}")
        needed = needs[name]
        python = getattr(asked, needed) if needed else sys.executable
        if python is None:
            print(f"{name}: left as it is, for it needs --{needed}=PYTHON", flush=True)
        else:
            _record(name, needed, python)


def _record(name: str, needed: str | None, python: str) -> None:
    if needed == "tf1":
        ask = HERE / "contrib" / f"ask_{name.removeprefix(CONTRIB)}.py"
        _run(python, ask, GOLDEN / f"{name}.json")
        _note(python, name, "tensorflow")
    elif needed == "kubeflow":
        _keep_printed(python, HERE / "record_tfjob.py", name)
        _note(python, name, "kubeflow-training")
    elif needed == "trainer":
        _keep_printed(python, HERE / "record_kubernetes.py", name)
        _note(python, name, "kubeflow-trainer-api")
    elif needed == "scipy":
        _run(python, HERE / "ask_scipy_misc.py", GOLDEN / f"{name}.json")
        _note(python, name, "scipy")
    elif needed == "removed":
        _keep_printed(python, HERE.parent / "legacy/programs/removed_names.py", name)
        _note(python, name, "pandas")
    elif needed == "trees":
        _run(python, HERE / "record_boosted_trees.py", name)
    elif needed == "ours":
        with tempfile.TemporaryDirectory() as directory:
            _run(python, HERE / "write_ours.py", directory)
            _run(sys.executable, HERE / "recordings.py", name, directory)
    else:
        _run(python, HERE / "recordings.py", name)


def _run(python: str, *arguments: object) -> None:
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment.pop("TF2_BEHAVIOR", None)  # Set by the TensorFlow of here; 1.15 would obey it.
    subprocess.run([python, *map(str, arguments)], check=True, env=environment)


def _printed(*command: object) -> str:
    said = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
    return said.stdout


def _keep_printed(python: str, script: Path, name: str) -> None:
    import goldens

    goldens.write(name, json.loads(_printed(python, script)))


def _note(python: str, name: str, package: str) -> None:
    """Notes which version an interpreter has that cannot note it itself."""
    import goldens

    program = f"""
import platform
try:
    from importlib.metadata import version
except ImportError:  # Python 3.7, where a package that TensorFlow needs has it.
    from importlib_metadata import version
print("TensorFlow" if "{package}" == "tensorflow" else "{package}", version("{package}"))
print("Python", platform.python_version())
try:
    print("NumPy", version("numpy"))
except Exception:
    pass
"""
    goldens.note_version(name, *_printed(python, "-c", program).splitlines())


if __name__ == "__main__":
    main()
