"""Filters of exported models of TensorFlow 1."""

import pytest

from estimator_train.legacy import gc

PATHS = [gc.Path(f"exports/{version:02}", version) for version in (3, 12, 6, 7, 2)]


def versions(paths):
    return [path.export_version for path in paths]


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (gc.largest_export_versions(2), [7, 12]),
        (gc.one_of_every_n_export_versions(3), [3, 6, 7, 12]),
        (gc.mod_export_version(3), [3, 6, 12]),
        (gc.union(gc.largest_export_versions(1), gc.mod_export_version(2)), [2, 6, 12]),
        (gc.negation(gc.largest_export_versions(2)), [2, 3, 6]),
    ],
    ids=["largest", "of every three", "divided by three", "union", "negation"],
)
def test_filters_select_exports_by_version(chosen, expected):
    assert versions(chosen(PATHS)) == expected


def test_get_paths_returns_the_paths_that_the_parser_accepts(tmp_path):
    for name in ("05", "11", "temp-7", "notes.txt"):
        (tmp_path / name).mkdir()

    def parse(path):
        name = path.path.rpartition("/")[2]
        return path._replace(export_version=int(name)) if name.isdigit() else None

    assert versions(gc.get_paths(str(tmp_path), parse)) == [5, 11]
