"""The input_fns of the presets."""

import os
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from estimator_train import ModeKeys
from estimator_train.cli.job.own_packages import import_own
from estimator_train.cli.output.errors import UsageError

if TYPE_CHECKING:
    import input_fns
else:
    input_fns = import_own("input_fns")


def digits(mode: str, pipeline_options: Any) -> tf.data.Dataset:
    """The digits that come with the package: 1,437 to train on, 360 to test with.

    Args:
      mode: A ModeKeys value; training reads the training pictures in random order.
      pipeline_options: The `input_fns.PipelineOptions` of the flags.
    """
    return input_fns.digits(**_how_to_read(mode, pipeline_options))


def fashion_mnist(
    mode: str,
    data_dir: str | None,
    download: bool,
    pipeline_options: Any,
) -> tf.data.Dataset:
    """Fashion-MNIST, or any other data in four files of the same names and format.

    Args:
      mode: As for `digits`.
      data_dir: Folder with the four IDX files.
      download: Whether tf_keras may fetch those that are not there.
      pipeline_options: As for `digits`.

    Raises:
      UsageError: There is no data_dir.
      FileNotFoundError: A file is not there.
      ValueError: A file is damaged.
    """
    folder = _required(
        data_dir, "a folder with the four IDX files; with --download they are fetched into it"
    )
    if not download and not tf.io.gfile.isdir(folder):
        raise UsageError(
            f"--data_dir={folder}: there is no such folder. Put the four IDX files of "
            "Fashion-MNIST there, or add --download."
        )
    reading = _how_to_read(mode, pipeline_options)
    return input_fns.fashion_mnist(folder, download=download, **reading)


def image_folder(
    mode: str,
    data_dir: str | None,
    file_pattern: str,
    labels: list[str],
    image_size: int,
    mixed_channels: bool,
    pipeline_options: Any,
) -> tf.data.Dataset:
    """Pictures below the `train` and the `test` folder of data_dir, a folder a class.

    Args:
      mode: As for `digits`.
      data_dir: Folder with the two folders.
      file_pattern: Pattern of the files within each of the two.
      labels: Names of the classes' folders.
      image_size: Height and width, in pixels, that pictures are resized to.
      mixed_channels: Whether grey pictures may lie among coloured ones.
      pipeline_options: As for `digits`.

    Raises:
      UsageError: There is no data_dir.
      FileNotFoundError: No file matches.
      ValueError: A file's folder is not among the labels.
    """
    folder = _required(data_dir, "a folder with train/CLASS/*.jpeg and test/CLASS/*.jpeg")
    reading = _how_to_read(mode, pipeline_options)
    return input_fns.image_folder(
        os.path.join(folder, reading.pop("split"), file_pattern),
        labels,
        (image_size, image_size),
        mixed_channels=mixed_channels,
        **reading,
    )


def _how_to_read(mode: str, pipeline_options: Any) -> dict[str, Any]:
    return {
        "split": "train" if mode == ModeKeys.TRAIN else "test",
        "options": pipeline_options,
    }


def _required(data_dir: str | None, what: str) -> str:
    if not data_dir:
        raise UsageError(f"--data_dir=DIR is needed: {what}.")
    return data_dir
