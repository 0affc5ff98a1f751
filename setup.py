"""Packaging of estimator-train: the framework, its input pipelines and its flags."""

import re
import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup

REPORT = ["matplotlib>=3.6"]
TEST = [
    "pytest>=8",
    "pytest-timeout",
    "pytest-xdist",
    "pandas",
    "scipy",
    "hypothesis",
    "ruff",
    "mypy",
    *REPORT,
]

HERE = Path(__file__).parent
# Said once, where the installed package says it.
VERSION = re.search(
    r'^__version__ = "(.+)"$', (HERE / "estimator_train/__init__.py").read_text(), re.MULTILINE
)

setup(
    name="estimator-train",
    version=VERSION.group(1),
    description="The Estimator way of training, alive on today's TensorFlow.",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.10,<3.14",
    packages=find_packages(
        include=["estimator_train", "estimator_train.*", "input_fns", "input_fns.*", "flags"]
    ),
    package_data={
        "estimator_train": ["py.typed"],
        "input_fns": ["data/*"],
        "flags": ["presets/*.flags"],
    },
    # No module of Python: processes of a launched cluster have it preloaded. Where there is no C
    # compiler, the launcher does without.
    ext_modules=[
        Extension(
            "_estimator_train_loopback", ["estimator_train/launcher/loopback.c"], optional=True
        )
    ]
    if sys.platform == "linux"
    else [],
    install_requires=[
        "tensorflow>=2.16,<2.22",
        "tf-keras>=2.16,<2.22",
        "numpy",
        "absl-py",
        "pillow",
        "tensorboard",
        "tqdm",
    ],
    extras_require={
        "test": TEST,
        "pandas": ["pandas"],
        "report": REPORT,
        "gpu": ["tensorflow[and-cuda]>=2.16,<2.22"],
    },
    entry_points={"console_scripts": ["estimator-train = estimator_train.cli.main:main"]},
    classifiers=[
        "License :: OSI Approved :: Apache Software License",
        "Programming Language :: Python :: 3",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
    ],
)
