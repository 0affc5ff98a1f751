"""Names, methods and arguments that Python and its libraries have removed since 2018."""

import json

import pytest
from outcomes import recorded
from tiers import first

RECORDED = recorded("removed_names")
QUICK = ["standard", "numpy", "pandas", "pictures"]


@pytest.mark.parametrize("library", first(QUICK, sorted(RECORDED)))
def test_a_program_of_2018_has_the_answers_of_its_time(run, library):
    answers = json.loads(run("removed_names.py", library).stdout)
    assert answers == {library: RECORDED[library]}
