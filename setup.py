"""Packaging of estimator-train: the framework, its input pipelines and its flags."""

import os
import re
import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

REPORT = ["matplotlib>=3.6"]
TEST = [
    "pytest>=8",
    "pytest-timeout",
    "pytest-xdist",
    "pandas",
    "scipy",
    "hypothesis",
    "pyyaml",
    *REPORT,
]
# What the second tier asks for besides: wheels, notebooks.
LONG = ["build", "ipykernel", "ipywidgets", "nbclient"]
LINT = ["ruff", "mypy"]

DOCS = ["mkdocs-material>=9.5", "mkdocstrings[python]>=0.26"]

HERE = Path(__file__).parent
# Said once, where the installed package says it.
VERSION = re.search(
    r'^__version__ = "(.+)"$', (HERE / "estimator_train/__init__.py").read_text(), re.MULTILINE
)

# Where the sources are: known to the host that builds a release, which says it.
ADDRESS = os.environ.get("ESTIMATOR_TRAIN_URL", "").rstrip("/")
URLS = {
    "Source": ADDRESS,
    "Documentation": f"{ADDRESS}/blob/v{VERSION.group(1)}/docs/index.md",
    "Changelog": f"{ADDRESS}/blob/v{VERSION.group(1)}/CHANGELOG.md",
    "Issues": f"{ADDRESS}/issues",
}

# Servers of a launched cluster have no password: on Linux a library of C, which their processes
# have preloaded, binds them to loopback. It knows nothing of Python: one wheel with it serves every
# Python of a platform. A wheel without it, as this variable makes, serves all others; there the
# launcher warns and names --private_network.
HAS_LIBRARY = sys.platform == "linux" and not os.environ.get("ESTIMATOR_TRAIN_NO_LIBRARY")


class PlainLibrary(build_ext):
    """Names a library without the Python that built it."""

    def get_ext_filename(self, fullname: str) -> str:
        """The file of an extension."""
        return f"{fullname}.so"


class PlainWheel(bdist_wheel):
    """Names a wheel without the Python that built it."""

    def get_tag(self) -> tuple[str, str, str]:
        """The tags for Python, its ABI and the platform."""
        return "py3", "none", super().get_tag()[2]


setup(
    name="estimator-train",
    version=VERSION.group(1),
    description="Run tf.estimator code on TensorFlow 2.16 to 2.21.",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    license_files=["LICENSE", "NOTICE"],
    project_urls=URLS if ADDRESS else {},
    python_requires=">=3.10,<3.14",
    packages=find_packages(
        include=["estimator_train", "estimator_train.*", "input_fns", "input_fns.*", "flags"]
    ),
    package_data={
        "estimator_train": ["py.typed"],
        "input_fns": ["data/*"],
        "flags": ["presets/*.flags"],
    },
    cmdclass={"build_ext": PlainLibrary, "bdist_wheel": PlainWheel},
    # Where there is no C compiler, the launcher does without.
    ext_modules=[
        Extension(
            "_estimator_train_loopback", ["estimator_train/launcher/loopback.c"], optional=True
        )
    ]
    if HAS_LIBRARY
    else [],
    install_requires=[
        "tensorflow>=2.16,<2.22",
        "tf-keras>=2.16,<2.22",
        "numpy",
        "absl-py",
        "packaging",
        "pillow",
        "tensorboard",
        "tqdm",
    ],
    extras_require={
        "test": TEST,
        "long": [*TEST, *LONG],
        "lint": LINT,
        "pandas": ["pandas"],
        "report": REPORT,
        "docs": DOCS,
        "dev": [*TEST, *LONG, *LINT, *DOCS, "nox", "pre-commit", "twine"],
        "gpu": ["tensorflow[and-cuda]>=2.16,<2.22"],
    },
    entry_points={"console_scripts": ["estimator-train = estimator_train.cli.main:main"]},
    keywords=["tensorflow", "estimator", "keras", "training", "distributed"],
    classifiers=[
        "Development Status :: 4 - Beta",
        "Environment :: Console",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: MacOS",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        *(f"Programming Language :: Python :: 3.{minor}" for minor in range(10, 14)),
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Typing :: Typed",
    ],
)
