"""Keep checkpoints of the original for Keras models, and what it predicts with them.

Run by hand with a Python that has TensorFlow 2.15: `python tests/oracle/record_way_back.py`.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import goldens
from jobs import original_apis
from way_back_jobs import CHECKPOINTS, FIRST, JOBS, MORE, input_fn, predictions


def main() -> None:
    api = next(original_apis())
    shutil.rmtree(CHECKPOINTS, ignore_errors=True)
    golden = {}
    for name, job in JOBS.items():
        with tempfile.TemporaryDirectory() as model_dir:
            estimator = job.estimator(api, model_dir)
            estimator.train(input_fn, steps=FIRST)
            _copy(Path(estimator.latest_checkpoint()), CHECKPOINTS / name)
            first = predictions(job, estimator)
            estimator.train(input_fn, steps=MORE)
            golden[name] = {"first": first, "more": predictions(job, estimator)}
    goldens.write("way_back", golden)


def _copy(path: Path, target: Path) -> None:
    """Copies a checkpoint alone, as it would move to another machine."""
    target.mkdir(parents=True)
    for part in path.parent.glob(f"{path.name}.*"):
        if part.suffix != ".meta":
            shutil.copy(part, target)
    (target / "checkpoint").write_text(f'model_checkpoint_path: "{path.name}"\n')


if __name__ == "__main__":
    main()
