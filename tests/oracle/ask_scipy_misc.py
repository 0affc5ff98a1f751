"""Asks `scipy.misc` of SciPy 1.2 about pictures; `record.py --scipy` runs it on Python 3.7."""

import io
import json
import sys

import numpy as np

COLOR = np.arange(24).reshape(2, 4, 3).astype(np.float32)
PICTURES = {"color": COLOR, "bytes": COLOR.astype(np.uint8), "gray": COLOR[..., 0]}
SIZES = [(4, 2), (4, 2, 3), 50, 200, 0.5, 2.0, np.float32(0.5), np.int64(50)]


def questions(misc):
    """Returns questions, each a function without arguments, by their names."""
    pixels, gray = PICTURES["bytes"], PICTURES["gray"]
    four = np.concatenate([COLOR, COLOR[..., :1]], 2)
    asked = {
        "bytescale": lambda: misc.bytescale(COLOR),
        "bytescale to a range": lambda: misc.bytescale(COLOR, 2, 20, 200, 10),
        "bytescale of equal values": lambda: misc.bytescale(COLOR * 0),
        "bytescale with cmax below cmin": lambda: misc.bytescale(COLOR, 3, 2),
        "bytescale above 255": lambda: misc.bytescale(COLOR, high=300),
        "toimage, channels first": lambda: misc.toimage(COLOR.transpose(2, 0, 1)),
        "toimage, first axis of 3": lambda: misc.toimage(four.transpose(1, 0, 2)[:3]),
        "toimage of 4 channels": lambda: misc.toimage(four.astype(np.uint8)[:, :2]),
        "toimage with limits": lambda: misc.toimage(COLOR, cmin=0, cmax=255),
        "toimage of 2 channels": lambda: misc.toimage(np.zeros((2, 2, 2))),
        "toimage of a vector": lambda: misc.toimage(np.zeros(2)),
        "toimage of complex numbers": lambda: misc.toimage(gray * 1j),
        "toimage YCbCr": lambda: misc.toimage(COLOR, mode="YCbCr"),
        "toimage L of colors": lambda: misc.toimage(COLOR, mode="L"),
        "toimage, wrong channel axis": lambda: misc.toimage(COLOR, channel_axis=0),
        "numbers": lambda: [float(misc.comb(5, 2)), float(misc.factorial(4))],
        "logsumexp": lambda: round(float(misc.logsumexp([1.0, 2.0])), 6),
    }
    for name, picture in PICTURES.items():
        for size in SIZES:
            asked[f"imresize {name} to {np.array(size).tolist()!r}"] = (
                lambda picture=picture, size=size: misc.imresize(picture, size)
            )
        for options in ({}, {"flatten": True}, {"mode": "L"}, {"mode": "L", "flatten": True}):
            asked[f"imread {name} {sorted(options.items())!r}"] = (
                lambda picture=picture, options=options: misc.imread(
                    _save(misc, picture), **options
                )
            )
    for method in ("nearest", "lanczos", "bilinear", "bicubic", "cubic", "unknown"):
        asked["imresize by " + method] = lambda method=method: misc.imresize(
            pixels, (3, 3), interp=method
        )
    for mode in ("F", "L", "I", "P", "RGB", "1"):
        asked["toimage gray " + mode] = lambda mode=mode: misc.toimage(gray, mode=mode)
        asked["imresize gray " + mode] = lambda mode=mode: misc.imresize(gray, (3, 3), mode=mode)
    for angle in (90, 30, -45.0):
        asked[f"imrotate by {angle!r}"] = lambda angle=angle: misc.imrotate(pixels, angle)
    return asked


def answer(question):
    """Returns what a question gives, as JSON has it: for an error its class."""
    try:
        value = question()
    except Exception as error:
        return type(error).__name__
    if hasattr(value, "getbands"):
        return [value.mode, list(value.size), np.array(value).tolist()]
    return [str(value.dtype), value.tolist()] if isinstance(value, np.ndarray) else value


def _save(misc, picture):
    file = io.BytesIO()
    misc.imsave(file, picture, "png")
    file.seek(0)
    return file


if __name__ == "__main__":
    import scipy.misc

    answers = {name: answer(question) for name, question in questions(scipy.misc).items()}
    with open(sys.argv[1], "w") as out:
        json.dump(answers, out, indent=1, sort_keys=True)
        out.write("\n")
