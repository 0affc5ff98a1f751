"""The number of steps of the next session call: hooks, `steps_per_loop` and time limit it."""

import logging

import pytest

import estimator_train as est
from estimator_train.engine.loops.hook_schedule import StepBudget


class Due(est.SessionRunHook):
    """Hook that must see the step after a number of steps, or no step."""

    def __init__(self, steps):
        self.steps = steps

    def steps_until_due(self, global_step):
        return self.steps


class Often(Due):
    """The hook that limits a loop."""


def budget(*due, steps_per_call="auto"):
    """Returns the budget of fast steps."""
    found = StepBudget([Due(steps) for steps in due], steps_per_call)
    found.record(secs=1e-6, steps=1)
    return found


@pytest.mark.parametrize(
    ("due", "limit", "steps"),
    [
        ([7, 5, 9], "auto", 4),
        ([None, 5], "auto", 4),
        ([5, None], "auto", 4),
        ([1, 5], "auto", 0),
        ([50], 20, 19),
        ([5], 20, 4),
        ([None], 20, 19),
    ],
)
def test_the_next_step_that_a_hook_sees_ends_a_loop(due, limit, steps):
    assert budget(*due, steps_per_call=limit).count_steps(0) == steps


def test_the_first_loop_has_ten_steps_and_later_ones_take_a_second():
    steps = StepBudget([Due(None)], "auto")
    assert steps.count_steps(0) == 10
    steps.record(secs=0.5, steps=10)
    assert steps.count_steps(10) == 20
    steps.record(secs=4.0, steps=1)
    assert steps.count_steps(11) == 1


@pytest.mark.parametrize(
    ("due", "limit", "is_free"),
    [([None], "auto", True), ([3], "auto", True), ([2], "auto", False), ([None], 1, False)],
)
def test_the_step_after_the_next_is_free_if_no_hook_sees_it(due, limit, is_free):
    assert budget(*due, steps_per_call=limit).is_free_after_next(0) is is_free


def lines(caplog, hooks, steps_per_call, due=(None,)):
    with caplog.at_level(logging.INFO):
        steps = StepBudget(hooks, steps_per_call)
        for one in due:
            hooks[-1].steps = one or hooks[-1].steps
            steps.count_steps(0)
            steps.log_size()
    return [record.message for record in caplog.records]


def test_one_line_names_the_hook_that_limits_the_loop(caplog):
    assert lines(caplog, [Due(9), Often(5)], "auto", [5, 4, 3]) == [
        "Up to 5 training steps run in one session call; the hook Often sees the next."
    ]


def test_one_line_names_the_limit_if_no_hook_is_due_before_it(caplog):
    assert lines(caplog, [Often(500)], 20) == ["Up to 20 training steps run in one session call."]


def test_one_line_tells_that_no_hook_limits_the_loop(caplog):
    assert lines(caplog, [Due(None)], "auto") == [
        "Up to an unlimited number of training steps run in one session call."
    ]


def test_one_line_tells_that_the_limit_does_not_divide_the_interval(caplog):
    assert lines(caplog, [Often(100)], 30, [100, 70, 40, 10, 100, 70, 10, 100])[1:] == [
        "steps_per_loop=30 does not divide the 100 steps from one that Often must see to the next; "
        "the last session call before it runs 10."
    ]


def test_no_line_if_the_limit_divides_the_interval(caplog):
    assert len(lines(caplog, [Often(90)], 30, [90, 60, 30, 90, 60, 30, 90])) == 1
