"""Writes the digits files of this folder from scikit-learn's `load_digits`.

To run it, install scikit-learn: `python -m input_fns.data.make_digits`.
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from input_fns.pictures.idx import write_idx

TEST_ROWS = 360


def main() -> None:
    """Splits the digits, each class in the same proportion, and writes the four files."""
    digits = load_digits()
    images = digits.images.astype(np.uint8)
    labels = digits.target.astype(np.uint8)
    rows = np.arange(len(labels))
    train, test = train_test_split(rows, test_size=TEST_ROWS, stratify=labels, random_state=0)
    folder = Path(__file__).parent
    for split, chosen in {"train": np.sort(train), "test": np.sort(test)}.items():
        write_idx(folder / f"digits-{split}-images-idx3-ubyte.gz", images[chosen])
        write_idx(folder / f"digits-{split}-labels-idx1-ubyte.gz", labels[chosen])


if __name__ == "__main__":
    main()
