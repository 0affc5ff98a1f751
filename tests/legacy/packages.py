"""Prints a table of old packages from PyPI: how many modules import and how many tests pass.

Install the packages with `pip install --no-deps`, and the other libraries that they import, then:

    python tests/legacy/packages.py              # imports and tests of all installed packages
    python tests/legacy/packages.py --imports    # imports alone, which takes a minute
    python tests/legacy/packages.py --check      # imports, and reports of `estimator-train check`
    python tests/legacy/packages.py --rewrite    # imports, and imports of the copies by --rewrite
    python tests/legacy/packages.py --programs   # imports, and programs of programs/libraries
    python tests/legacy/packages.py adanet tf-slim --sample=40   # 40 random test files of each

`estimator-train run` imports each package, as a script of its generation would. Each test file runs
in a fork, and passes if all of its tests pass.
"""

import importlib
import importlib.util
import json
import os
import random
import re
import signal
import subprocess
import sys
import sysconfig
import tempfile
import traceback
import unittest
from collections import Counter
from pathlib import Path

# Requirement, top-level module, generation of a script that imports it.
PACKAGES = (
    ("tensorflow-ranking==0.5.5", "tensorflow_ranking", "--tf2"),
    ("adanet==0.9.0", "adanet", "--tf2"),
    ("deepctr==0.9.4", "deepctr", "--tf1"),
    ("tf-slim", "tf_slim", "--tf2"),
    ("bert-tensorflow==1.0.4", "bert", "--tf1"),
    ("OpenNMT-tf==1.25.1", "opennmt", "--tf1"),
    ("tensor2tensor==1.15.7", "tensor2tensor", "--tf1"),
    ("tf-models-official==2.2.2", "official", "--tf2"),
    ("tensorflow-hub", "tensorflow_hub", "--tf2"),
    ("tensorflow-lattice==2.0.13", "tensorflow_lattice", "--tf2"),
    ("tensorflow-privacy==0.9.0", "tensorflow_privacy", "--tf2"),
    ("tensorflow-model-analysis==0.31.0", "tensorflow_model_analysis", "--tf2"),
)
COMMAND = os.path.join(sysconfig.get_path("scripts"), "estimator-train")
SECONDS_OF_A_TEST_FILE = 240
_MARK = "REPORT "


def main(arguments):
    """Prints the table."""
    wanted = [argument for argument in arguments if not argument.startswith("-")]
    with_tests = not {"--imports", *_ROWS} & {*arguments}
    columns, row = next((_ROWS[a] for a in arguments if a in _ROWS), _ROWS["--all"])
    print(f"| package | modules that import | {columns} |")
    print("| --- | --- | --- | --- |")
    for requirement, module, generation in PACKAGES:
        if wanted and requirement.split("==")[0] not in wanted:
            continue
        if importlib.util.find_spec(module) is None:
            continue
        inner = ["--all-of" if with_tests else "--imports-of", module]
        inner += [argument for argument in arguments if argument.startswith("--sample=")]
        found = _run_report([COMMAND, "run", generation, __file__, *inner])
        print(f"| {requirement} | {_count_imported(found)} | {row(found)} |", flush=True)


def _run_report(command, **variables):
    """Runs `_report` in another process and returns its output."""
    variables = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", **variables}
    done = subprocess.run(command, capture_output=True, text=True, env=variables)
    lines = [line for line in done.stdout.splitlines() if line.startswith(_MARK)]
    if not lines:
        raise SystemExit(f"{command}: {done.stderr}")
    return json.loads(lines[-1].removeprefix(_MARK))


def _compare_with_check(found):
    """Counts the modules whose import agrees with `check`, and lists the others."""
    done = subprocess.run(
        [COMMAND, "check", found["folder"], "--json"], capture_output=True, text=True
    )
    expected = {file["path"]: file["import_problem"] for file in json.loads(done.stdout)}
    wrong = []
    for path, error in found["errors"].items():
        if bool(error) != bool(expected[path]):
            module = os.path.relpath(path, found["folder"])
            wrong.append(f"{module}: {error or 'imports'}, expected: {expected[path] or 'imports'}")
    right = len(expected) - len(wrong)
    return f"{right} of {len(expected)} | {'; '.join(wrong)}"


def _import_copies(found):
    """Counts the modules whose edited copies import under `python`, and lists the others."""
    folder = Path(found["folder"])
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place, folder.name)
        subprocess.run([COMMAND, "check", folder, f"--rewrite={copy}"], capture_output=True)
        command = [sys.executable, __file__, "--copies-of", folder.name]
        copies = _run_report(command, PYTHONPATH=place)["errors"]
    named = {os.path.relpath(path, copy): error for path, error in copies.items()}
    good = [os.path.relpath(path, folder) for path, error in found["errors"].items() if not error]
    wrong = [f"{name}: {named.get(name, 'no copy')}" for name in good if named.get(name, "none")]
    return f"{len(good) - len(wrong)} of {len(good)} | {'; '.join(wrong)}"


def _count_imported(found):
    return f"{list(found['errors'].values()).count('')} of {len(found['errors'])}"


def _run_programs(found):
    """Counts the programs from a package's README that run to their end, and lists the others."""
    name = Path(found["folder"]).name
    paths = sorted((Path(__file__).parent / "programs" / "libraries").glob(f"{name}_*.py"))
    wrong = []
    for path in paths:
        with tempfile.TemporaryDirectory() as place:
            variables = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "WORK_DIR": place}
            command = [COMMAND, "run", "--seed=1", path]
            done = subprocess.run(command, capture_output=True, text=True, env=variables)
        print(f"{path.name}\n{done.stderr}", file=sys.stderr)
        if done.returncode:
            wrong.append(f"{path.name}: {done.stderr.splitlines()[-1]}")
    return f"{len(paths) - len(wrong)} of {len(paths)} | {'; '.join(wrong)}"


def _summarize_tests(found):
    reasons = Counter(filter(None, found["errors"].values())) + Counter(found["test_errors"])
    errors = "; ".join(f"{reason} ({count})" for reason, count in reasons.most_common(8))
    tests = f"{found['passed']} of {found['tests']}" if found["tests"] else "none shipped"
    return f"{tests} | {errors}"


_ROWS = {
    "--all": ("test files that pass | why the others do not", _summarize_tests),
    "--programs": ("programs that run | the others", _run_programs),
    "--check": ("of these `check` agrees on | the others", _compare_with_check),
    "--rewrite": ("of which the copies import | the others", _import_copies),
}


def _report(package, with_tests, sample=""):
    (folder,) = importlib.util.find_spec(package).submodule_search_locations
    files = sorted(Path(folder).rglob("*.py"))
    tests = [file for file in files if file.name.endswith("_test.py")] if with_tests else []
    if sample:
        tests = random.Random(1).sample(tests, min(len(tests), int(sample.partition("=")[2])))
    found = {"folder": folder, "errors": {}}
    found |= {"tests": len(tests), "passed": 0, "test_errors": []}
    for file in tests:
        error = _run_in_fork(_run_tests, _module(package, folder, file))
        found["passed"] += not error
        found["test_errors"] += [error] if error else []
    for file in files:
        found["errors"][str(file)] = _import(_module(package, folder, file))
    print(_MARK + json.dumps(found), flush=True)


def _module(package, folder, file):
    inner = file.relative_to(folder).with_suffix("").parts
    return ".".join([package, *inner]).removesuffix(".__init__")


def _import(name):
    """Imports a module and returns the error, or ""."""
    from absl import flags  # noqa: PLC0415

    for flag in flags.FLAGS._flags().values():
        flag.allow_override = True  # Programs of one package define the same flags.
    try:
        importlib.import_module(name)
    except BaseException as error:
        return _reason(error)
    return ""


def _reason(error):
    needed = re.match(r"No module named '(\w+)", str(error))
    if isinstance(error, ModuleNotFoundError) and needed:
        return f"needs `{needed[1]}`"
    text = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {text[0][:110]}".replace("|", "/")


def _run_tests(name):
    """Runs the tests of a module and returns the first error, or ""."""
    from absl import flags  # noqa: PLC0415

    flags.FLAGS(["test"], known_only=True)
    try:
        module = importlib.import_module(name)
    except BaseException as error:
        return _reason(error)
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromModule(module).run(result)
    bad = [*result.errors, *result.failures]
    lines = [_find_error_line(text) for _, text in bad if text.strip()]
    for test, text in bad:
        print(f"{name} {test}\n{text}", file=sys.stderr)
    return lines[0].replace("|", "/") if lines else ""


def _find_error_line(trace):
    """Returns the line of a traceback that names the error."""
    lines = trace.strip().splitlines()
    named = [
        line for line in lines if re.match(r"[\w.]+(Error|Exception|Symbol|NotInstalled)\b", line)
    ]
    return (named or lines)[-1][:130]


def _run_in_fork(function, argument):
    """Calls a function in a fork and returns its result, or why the fork ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(SECONDS_OF_A_TEST_FILE)
        try:
            text = function(argument)
        except BaseException:
            text = traceback.format_exc().splitlines()[-1]
        os.write(writing, text.encode()[:4000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    if status:
        return f"ended by signal {status & 127}" if status & 127 != signal.SIGALRM else "too slow"
    return text


if __name__ == "__main__":
    if sys.argv[1:2] in (["--imports-of"], ["--all-of"], ["--copies-of"]):
        if sys.argv[1] != "--copies-of":
            import tensorflow  # noqa: F401 (the runner prepares TensorFlow at this import)
        _report(sys.argv[2], sys.argv[1] == "--all-of", *sys.argv[3:])
    else:
        main(sys.argv[1:])
