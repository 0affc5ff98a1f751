"""Extra assets: files that an export copies to the SavedModel."""

import os
from collections.abc import Mapping

import tensorflow as tf


def check_assets(assets_extra: Mapping[str, str]) -> None:
    """Checks extra assets before the graphs are built.

    Args:
      assets_extra: Maps paths in `assets.extra` to the files to copy there.

    Raises:
      NotFoundError: A file does not exist.
      InvalidArgumentError: A file is a directory.
      AlreadyExistsError: A path is a directory, or is given twice.
    """
    targets: set[str] = set()
    for destination, source in assets_extra.items():
        place = f"assets_extra[{destination!r}]"
        if not tf.io.gfile.exists(source):
            raise tf.errors.NotFoundError(
                None, None, f"{source}; No such file or directory, in {place}"
            )
        if tf.io.gfile.isdir(source):
            raise tf.errors.InvalidArgumentError(
                None, None, f"{source} is a directory, in {place}; give each of its files."
            )
        name = os.fsdecode(destination)
        target = os.path.normpath(name)
        if name.endswith("/") or target == os.curdir or target in targets:
            raise tf.errors.AlreadyExistsError(
                None, None, f"{place} is no path of a new file in assets.extra; give another one."
            )
        targets.add(target)


def copy_assets(export_dir: str, assets_extra: Mapping[str, str]) -> None:
    """Copies extra assets into the directory of a SavedModel."""
    for destination, source in assets_extra.items():
        path = os.path.join(export_dir, "assets.extra", os.fsdecode(destination))
        tf.io.gfile.makedirs(os.path.dirname(path))
        tf.io.gfile.copy(source, path)
