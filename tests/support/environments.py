"""New Python environments with the packages of this one."""

import os
import sysconfig
import venv

from processes import run_process


def create(folder, with_pip=False):
    """Creates an environment; returns its Python and its folder of packages."""
    venv.create(folder, symlinks=True, with_pip=with_pip)
    packages = next(folder.glob("lib/python*/site-packages"))
    base = sysconfig.get_path("purelib")
    (packages / "base.pth").write_text(f"import site; site.addsitedir({base!r})\n")
    return folder / "bin" / "python", packages


def run_python(python, *arguments, cwd, exit_code=0, **variables):
    """Runs the Python of an environment; returns the process."""
    env = {k: v for k, v in os.environ.items() if k != "TF_USE_LEGACY_KERAS"}
    return run_process(
        [python, *arguments],
        exit_code=exit_code,
        cwd=cwd,
        env={**env, "TF_CPP_MIN_LOG_LEVEL": "3", **variables},
    )
