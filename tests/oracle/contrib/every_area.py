"""Asks the questions of areas in one program: `every_area.py DIRECTORY AREA...`.

`AREA:QUESTION,...` asks some questions of an area.
"""

import importlib
import os
import sys

from asking import write

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

if __name__ == "__main__":
    importlib.import_module("unoptimized").install()
    for given in sys.argv[2:]:
        area, _, names = given.partition(":")
        importlib.import_module("ask_" + area)
        write(os.path.join(sys.argv[1], area + ".json"), names.split(",") if names else None)
