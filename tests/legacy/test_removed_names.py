"""Names, methods and arguments that Python and its libraries have removed since 2018."""

import json

import pytest
from outcomes import recorded
from tiers import first

RECORDED = recorded("removed_names")
QUICK = ["standard", "numpy", "pandas", "pictures"]


@pytest.mark.parametrize("library", first(QUICK, sorted(RECORDED)))
def test_a_program_of_2018_has_the_recorded_answers(run, library):
    answers = json.loads(run("removed_names.py", library).stdout)
    assert answers == {library: RECORDED[library]}


def test_a_package_without_removed_names_inside_one_that_has_some_imports_its_modules(run):
    # `xml` has removed names, `xml.dom` has none.
    program = (
        "from xml.dom import minidom, expatbuilder as builder\n"
        "print(minidom.parseString('<a b=\"1\"/>').documentElement.getAttribute('b'))\n"
        "print(builder.__name__)\n"
        "try:\n    from xml.dom import nothing\n"
        "except ImportError as error:\n    print(error)\n"
    )
    lines = run(program).stdout.splitlines()
    assert lines == ["1", "xml.dom.expatbuilder", "module 'xml.dom' has no attribute 'nothing'"]


def test_a_threshold_of_nan_prints_complete_arrays(run):
    program = (
        "import numpy as np\n"
        "np.set_printoptions(threshold=np.nan, linewidth=10000, precision=3)\n"
        "print(str(np.arange(1001)).count('...'), np.float64(2) / 3, np.array([2 / 3]))\n"
    )
    assert run(program).stdout == "0 0.6666666666666666 [0.667]\n"
