"""Asks the original tf.contrib: `python3.7 tests/oracle/record_contrib.py [AREA ...]`.

Its environment has Python 3.7 and `pip install "tensorflow==1.15.5" "protobuf<3.21" scipy`.
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

if __name__ == "__main__":
    asks = sorted((HERE / "contrib").glob("ask_*.py"))
    for ask in asks:
        area = ask.stem[len("ask_") :]
        if area in sys.argv[1:] or not sys.argv[1:]:
            golden = HERE.parent / "golden" / ("contrib_" + area + ".json")
            subprocess.run([sys.executable, str(ask), str(golden)], check=True)
            print(golden.name)
