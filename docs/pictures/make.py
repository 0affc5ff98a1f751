"""Makes the picture of the loss in the README and the docs: `python docs/pictures/make.py`.

`python -m benchmarks.document` makes that of the speed. This one is what `estimator-train report`
draws of the main job with an evaluation every 150 steps.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
TRAIN = "train --preset digits --model_dir=digits --seed=1 --eval --eval_every_steps=150"
REPORT = "report digits --output_dir=plots"


def main() -> None:
    """Runs the commands, and keeps the plot of the loss."""
    with tempfile.TemporaryDirectory() as directory:
        for command in (TRAIN, REPORT):
            arguments = [sys.executable, "-m", "estimator_train", *command.split()]
            subprocess.run(arguments, cwd=directory, check=True)
        shutil.copy(Path(directory) / "plots/loss.png", HERE)


if __name__ == "__main__":
    main()
