"""New Python environments with the packages of this one."""

import os
import re
import sysconfig
import venv
from importlib import metadata

from processes import run_process


def create(folder, with_pip=False):
    """Creates an environment; returns its Python and its folder of packages."""
    venv.create(folder, symlinks=True, with_pip=with_pip)
    packages = next(folder.glob("lib/python*/site-packages"))
    base = sysconfig.get_path("purelib")
    (packages / "base.pth").write_text(f"import site; site.addsitedir({base!r})\n")
    return folder / "bin" / "python", packages


def create_with_distributions(folder, *names):
    """Creates an environment with a few distributions of this one and those that they require.

    Args:
      folder: New folder.
      *names: Names of distributions.

    Returns:
      The Python of the environment, which can import nothing else.
    """
    venv.create(folder, symlinks=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    pending, seen = list(names), set()
    while pending:
        name = pending.pop()
        seen.add(name)
        found = metadata.distribution(name)
        for top in {file.parts[0] for file in found.files or () if file.parts[0] != ".."}:
            if not (packages / top).exists():
                (packages / top).symlink_to(found.locate_file(top))
        for requirement in found.requires or ():
            required = re.match(r"[\w.-]+", requirement)[0]
            if "extra ==" not in requirement and required not in seen and _is_installed(required):
                pending.append(required)
    return folder / "bin" / "python"


def _is_installed(name):
    """Returns whether a distribution is installed; markers exclude some from this platform."""
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def run_python(python, *arguments, cwd, exit_code=0, **variables):
    """Runs the Python of an environment; returns the process."""
    env = {k: v for k, v in os.environ.items() if k != "TF_USE_LEGACY_KERAS"}
    return run_process(
        [python, *arguments],
        exit_code=exit_code,
        cwd=cwd,
        env={**env, "TF_CPP_MIN_LOG_LEVEL": "3", **variables},
    )
