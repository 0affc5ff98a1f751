"""Copies of variables and slots."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

from estimator_train.engine.tf_internals import operation_copies


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of variables that are copies."""
    names: list[str] = []
    add = operation_copies.add_operations

    def add_operations(graph: tf.Graph, nodes: Any, name: str, *more: Any) -> Any:
        names.append(name)
        return add(graph, nodes, name, *more)

    monkeypatch.setattr(operation_copies, "add_operations", add_operations)
    return names
