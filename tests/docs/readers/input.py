from pathlib import Path

import numpy as np
from PIL import Image

for name in ("CNV", "DME", "DRUSEN", "NORMAL"):
    directory = Path("scans/train") / name
    directory.mkdir(parents=True)
    Image.fromarray(np.zeros([50, 60], np.uint8)).save(directory / "1.jpeg")

Path("my_package").mkdir()
Path("my_package/data.py").write_text("""
import numpy as np
import input_fns


def input_fn(mode):
    x = np.zeros([256, 4], np.float32)
    return input_fns.arrays(x, np.arange(256) % 3, batch_size=32, shuffle=mode == "train")
""")
