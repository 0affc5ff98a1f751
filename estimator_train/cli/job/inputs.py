"""Input functions of the presets."""

import os
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from estimator_train import ModeKeys
from estimator_train.cli.job.own_packages import import_own_package
from estimator_train.cli.output.errors import UsageError

if TYPE_CHECKING:
    import input_fns as input_fns
else:
    input_fns = import_own_package("input_fns")


def digits(mode: str, pipeline_options: "input_fns.PipelineOptions") -> tf.data.Dataset:
    """Returns the digits that the package contains: 1,437 for training, 360 for evaluation.

    Args:
      mode: A ModeKeys value; training reads the training pictures in random order.
      pipeline_options: The `input_fns.PipelineOptions` of the flags.
    """
    return input_fns.digits(**_select_settings(mode, pipeline_options))


def fashion_mnist(
    mode: str,
    data_dir: str | None,
    download: bool,
    pipeline_options: "input_fns.PipelineOptions",
) -> tf.data.Dataset:
    """Returns Fashion-MNIST, or other data in four files of the same names and format.

    Args:
      mode: As for `digits`.
      data_dir: Folder with the four IDX files.
      download: Whether tf_keras may download missing files.
      pipeline_options: As for `digits`.

    Raises:
      UsageError: There is no data_dir.
      FileNotFoundError: A file does not exist.
      ValueError: A file is damaged.
    """
    folder = _require(data_dir, "a folder with the four IDX files, which --download can get")
    if not download and not tf.io.gfile.isdir(folder):
        raise UsageError(
            f"--data_dir={folder}: this folder does not exist. Put the four IDX files of "
            "Fashion-MNIST there, or add --download."
        )
    settings = _select_settings(mode, pipeline_options)
    return input_fns.fashion_mnist(folder, download=download, **settings)


def image_folder(
    mode: str,
    data_dir: str | None,
    file_pattern: str,
    labels: list[str],
    image_size: int,
    mixed_channels: bool,
    pipeline_options: "input_fns.PipelineOptions",
) -> tf.data.Dataset:
    """Returns the pictures in the folders `train` and `test`, which have a folder for each class.

    Args:
      mode: As for `digits`.
      data_dir: Folder that contains `train` and `test`.
      file_pattern: Pattern of the files in `train` and `test`.
      labels: Names of the classes' folders.
      image_size: Height and width of the resized pictures, in pixels.
      mixed_channels: Whether the folders may contain both grey and coloured pictures.
      pipeline_options: As for `digits`.

    Raises:
      UsageError: There is no data_dir.
      FileNotFoundError: No file matches.
      ValueError: The folder of a file is not among the labels.
    """
    folder = _require(data_dir, "a folder with train/CLASS/*.jpeg and test/CLASS/*.jpeg")
    settings = _select_settings(mode, pipeline_options)
    return input_fns.image_folder(
        os.path.join(folder, settings.pop("split"), file_pattern),
        labels,
        (image_size, image_size),
        mixed_channels=mixed_channels,
        **settings,
    )


def _select_settings(mode: str, pipeline_options: "input_fns.PipelineOptions") -> dict[str, Any]:
    return {
        "split": "train" if mode == ModeKeys.TRAIN else "test",
        "options": pipeline_options,
    }


def _require(data_dir: str | None, description: str) -> str:
    if not data_dir:
        raise UsageError(f"--data_dir=DIR is needed: {description}.")
    return data_dir
