"""Builds the parts of estimator-train that pyproject.toml cannot declare.

These are the library of C, the tags of wheels, and the addresses in the metadata.
"""

import hashlib
import os
import re
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).parent
VERSION = re.search(
    r'^__version__ = "(.+)"$', (HERE / "estimator_train/__init__.py").read_text(), re.MULTILINE
).group(1)

# The address of the repository. The host that builds a release sets it.
ADDRESS = os.environ.get("ESTIMATOR_TRAIN_URL", "").rstrip("/")
URLS = {
    "Source": ADDRESS,
    "Documentation": f"{ADDRESS}/blob/v{VERSION}/docs/index.md",
    "Changelog": f"{ADDRESS}/blob/v{VERSION}/CHANGELOG.md",
    "Issues": f"{ADDRESS}/issues",
}

# Servers of a launched cluster have no password: on Linux a library of C, which their processes
# preload, binds them to loopback. Another one serves TensorFlow's file systems. They do not use
# Python: one wheel with them serves every Python of a platform. With this variable the wheel has no
# library and serves all other platforms; there the launcher warns and names --private_network, and
# the first remote path compiles the other library.
REMOTE = "estimator_train/remote/filesystem.c"
HAS_LIBRARY = sys.platform == "linux" and not os.environ.get("ESTIMATOR_TRAIN_NO_LIBRARY")


# A process refuses a library that was built from another source (remote/registration.py).
REMOTE_DIGEST = hashlib.sha256((HERE / REMOTE).read_bytes()).hexdigest()[:16]


class PlainLibrary(build_ext):
    """Names a library without the Python that built it."""

    def get_ext_filename(self, fullname: str) -> str:
        """Returns the file of an extension."""
        return f"{fullname}.so"


class PlainWheel(bdist_wheel):
    """Names a wheel without the Python that built it."""

    def get_tag(self) -> tuple[str, str, str]:
        """Returns the tags for Python, its ABI and the platform."""
        return "py3", "none", super().get_tag()[2]


def resolve_links(text: str) -> str:
    """Returns a page whose links to files of the repository work outside of it.

    They become addresses below `ADDRESS`. Without an address only their texts remain, and
    pictures are removed.
    """

    def resolve(match: re.Match[str]) -> str:
        mark, label, target = match.groups()
        if ADDRESS:
            return f"{mark}[{label}]({ADDRESS}/{'raw' if mark else 'blob'}/v{VERSION}/{target})"
        return "" if mark else label

    return re.sub(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)]+)\)", resolve, text)


setup(
    long_description=resolve_links((HERE / "README.md").read_text(encoding="utf-8")),
    long_description_content_type="text/markdown",
    project_urls=URLS if ADDRESS else {},
    cmdclass={"build_ext": PlainLibrary, "bdist_wheel": PlainWheel},
    # Without a C compiler the launcher runs without the library, and remote paths ask for one.
    ext_modules=[
        Extension(
            "_estimator_train_loopback", ["estimator_train/launcher/loopback.c"], optional=True
        ),
        Extension(
            "_estimator_train_remote",
            [REMOTE],
            define_macros=[("REMOTE_SOURCE", f'"{REMOTE_DIGEST}"')],
            optional=True,
        ),
    ]
    if HAS_LIBRARY
    else [],
)
