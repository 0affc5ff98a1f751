"""Runs programs in forks of one process that has imported TensorFlow already.

Each program has a process of its own, as under `estimator-train run`, without the seconds that the
import takes. Reads one job a line from its input, answers with the exit code.
"""

import json
import os
import sys


def main():
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    import tensorflow  # noqa: F401

    import estimator_train.cli.main as cli
    import estimator_train.compat.v1  # noqa: F401

    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if not child:
            run(cli, job)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def run(cli, job):
    """Runs a program to its end, and ends this process with its exit code."""
    code = 1
    try:
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(job[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        os.chdir(job["cwd"])
        os.environ.update(job["variables"])
        code = cli.main(["run", *job["arguments"]])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
