"""Log lines, and the operations that errors name, are those of the original."""

from pathlib import Path

import ask_logs
import pytest
import tiers
from outcomes import recorded

import estimator_train as est


@pytest.mark.parametrize("name", tiers.every(3, ask_logs.JOBS))
def test_logs_and_errors_are_as_in_tf_estimator(name: str, tmp_path: Path) -> None:
    assert ask_logs.ask(est, name, str(tmp_path / "model")) == recorded("logs")[name]
