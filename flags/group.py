"""Definitions of flags that all go to one place."""

from functools import partial

from absl import flags


class Group:
    """absl's `DEFINE` and `DEFINE_*`, by their own arguments but the place.

    Args:
      flag_values: Where to define the flags.
    """

    def __init__(self, flag_values: flags.FlagValues) -> None:
        self.boolean = partial(flags.DEFINE_boolean, flag_values=flag_values)
        self.enum = partial(flags.DEFINE_enum, flag_values=flag_values)
        self.float = partial(flags.DEFINE_float, flag_values=flag_values)
        self.integer = partial(flags.DEFINE_integer, flag_values=flag_values)
        self.list = partial(flags.DEFINE_list, flag_values=flag_values)
        self.parsed = partial(flags.DEFINE, flag_values=flag_values)
        self.string = partial(flags.DEFINE_string, flag_values=flag_values)
