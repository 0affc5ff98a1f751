"""Asks the questions of all areas in one program: `every_area.py DIRECTORY`."""

import importlib
import os
import sys

from asking import write

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    for name in sorted(os.listdir(here)):
        if name.startswith("ask_"):
            importlib.import_module(name[: -len(".py")])
            area = name[len("ask_") : -len(".py")]
            write(os.path.join(sys.argv[1], area + ".json"))
