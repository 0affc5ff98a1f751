"""Many steps in one session call: the loop in the graph and what asks it to stop.

`hook_schedule.py` says how many steps may run before a hook is due, and `xla_choice.py` measures
whether compiled steps are faster.
"""
