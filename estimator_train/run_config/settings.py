"""The read-only attributes of RunConfig: those that show its settings, and others."""

import operator
from typing import Any

from estimator_train.run_config.checks import Check, anything


class ReadOnly(property):
    """An attribute that shows what is kept under its name with an underscore before it.

    Args:
      doc: What it is.
    """

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc

    def __set_name__(self, owner: type[Any], name: str) -> None:
        doc = self.__doc__
        super().__init__(operator.attrgetter(f"_{name}"))
        self.__doc__ = doc
        super().__set_name__(owner, name)  # type: ignore[misc]  # Its errors name the attribute.


class Setting(ReadOnly):
    """An attribute that shows an argument of the constructor, whose docstring describes it.

    Args:
      check: Takes the argument's name and a value other than None, and raises an error if the
        argument may not have it. None passes for all arguments.
    """

    def __init__(self, check: Check = anything) -> None:
        super().__init__("As the constructor's argument of this name, described at the class.")
        self.check = check
