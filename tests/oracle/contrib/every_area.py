"""Asks the questions of areas in one program: `every_area.py DIRECTORY AREA...`."""

import importlib
import os
import sys

from asking import write

if __name__ == "__main__":
    for area in sys.argv[2:]:
        importlib.import_module("ask_" + area)
        write(os.path.join(sys.argv[1], area + ".json"))
