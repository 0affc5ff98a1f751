"""Functions that define flags in one `FlagValues`."""

from functools import partial

from absl import flags


class Group:
    """absl's `DEFINE` and `DEFINE_*` with a fixed `flag_values` argument.

    Args:
      flag_values: Target of the definitions.
    """

    def __init__(self, flag_values: flags.FlagValues) -> None:
        self.boolean = partial(flags.DEFINE_boolean, flag_values=flag_values)
        self.enum = partial(flags.DEFINE_enum, flag_values=flag_values)
        self.float = partial(flags.DEFINE_float, flag_values=flag_values)
        self.integer = partial(flags.DEFINE_integer, flag_values=flag_values)
        self.list = partial(flags.DEFINE_list, flag_values=flag_values)
        self.parsed = partial(flags.DEFINE, flag_values=flag_values)
        self.string = partial(flags.DEFINE_string, flag_values=flag_values)
