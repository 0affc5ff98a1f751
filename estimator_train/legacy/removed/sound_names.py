"""Functions that librosa has removed, and arguments by position."""

import inspect
from typing import Any

import librosa
import librosa.core
import librosa.effects
import librosa.feature
import librosa.filters
import librosa.onset
import librosa.util
import numpy as np

from estimator_train.legacy.removed.add import accept_positions

_MODULES = (
    librosa,
    librosa.core,
    librosa.effects,
    librosa.feature,
    librosa.filters,
    librosa.onset,
    librosa.util,
)


def accept_positions_in_librosa() -> None:
    """Makes librosa's functions take their arguments by position, as before version 0.10."""
    for module in _MODULES:
        for name in dir(module):
            function = getattr(module, name)
            if inspect.isfunction(function) and not name.startswith("_"):
                setattr(module, name, accept_positions(function))


def write_wav(path: Any, y: Any, sr: int, norm: bool = False) -> None:
    """Does the same as `librosa.output.write_wav`: writes samples as 32-bit floats."""
    import soundfile

    samples = np.asarray(y, np.float32)
    if norm:
        samples = librosa.util.normalize(samples)
    soundfile.write(path, samples.T, sr, subtype="FLOAT")
