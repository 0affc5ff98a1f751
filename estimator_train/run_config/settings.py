"""Declarations of RunConfig's settings and of its other read-only attributes."""

from __future__ import annotations

import inspect
import operator
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from estimator_train.run_config.checks import Check

if TYPE_CHECKING:
    from typing_extensions import Self, dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Callable[[Any], Any]:
        """Returns a decorator that does nothing; type checkers use the real one."""
        return lambda decorated: decorated


T = TypeVar("T")
Config = TypeVar("Config", bound=type)


class ReadOnly(property, Generic[T]):
    """Attribute that shows the value kept under its name with an underscore before it.

    Args:
      doc: Its description.
    """

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc

    def __set_name__(self, owner: type[Any], name: str) -> None:
        super().__init__(operator.attrgetter(f"_{name}"), doc=self.__doc__)
        super().__set_name__(owner, name)  # type: ignore[misc]  # Its errors name the attribute.

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: type[Any], /) -> Self: ...
        @overload
        def __get__(self, instance: object, owner: type[Any] | None = None, /) -> T: ...
        def __get__(self, instance: Any, owner: Any = None, /) -> Any: ...
        def __set__(self, instance: Any, value: T, /) -> None: ...


class Setting(ReadOnly[T]):
    """Argument of a constructor and the read-only attribute that shows it.

    Args:
      default: The default of the argument.
      check: Function of the argument's name and a value that raises an error if the argument must
        not have the value. It is not called for None, which every argument may have. None: the
        argument may have any value.
      kw_only: Whether the argument must be given by keyword.
    """

    def __init__(self, *, default: T, check: Check | None = None, kw_only: bool = False) -> None:
        super().__init__("As the constructor's argument of this name, described at the class.")
        self.default = default
        self.check = check
        self.kw_only = kw_only

    def __set_name__(self, owner: type[Any], name: str) -> None:
        super().__set_name__(owner, name)
        self.argument = name

    def store(self, config: object, value: Any) -> None:
        """Checks a value and keeps it in the object that has this setting."""
        if value is not None and self.check is not None:
            self.check(self.argument, value)
        vars(config)[f"_{self.argument}"] = value


class PathSetting(Setting[Any]):
    """Setting that is a str or None; its argument may also be a path object.

    Its type is Any: the engine reads it after an Estimator has set it, when it is never None.
    """

    def store(self, config: object, value: Any) -> None:
        """Checks and keeps the path as a str."""
        super().store(config, os.fspath(value) if isinstance(value, os.PathLike) else value)

    if TYPE_CHECKING:

        def __set__(self, instance: Any, value: str | os.PathLike[str] | None, /) -> None: ...


def list_settings(config_class: type) -> dict[str, Setting[Any]]:
    """Returns the settings of a class by their names, in the order of their declarations."""
    return {name: one for name, one in vars(config_class).items() if isinstance(one, Setting)}


@dataclass_transform(field_specifiers=(Setting, PathSetting))
def add_settings(config_class: Config) -> Config:
    """Gives a class a constructor with an argument for each of its settings.

    The constructor calls the method `_store` of the class with all values by name, then
    `__post_init__`, as dataclasses do.
    """
    kinds = inspect.Parameter
    signature = inspect.Signature(
        [
            kinds("self", kinds.POSITIONAL_OR_KEYWORD),
            *(
                kinds(
                    name,
                    kinds.KEYWORD_ONLY if setting.kw_only else kinds.POSITIONAL_OR_KEYWORD,
                    default=setting.default,
                )
                for name, setting in list_settings(config_class).items()
            ),
        ]
    )

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        try:
            bound = signature.bind(self, *args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{config_class.__name__}.__init__() {error}") from None
        bound.apply_defaults()
        values = bound.arguments
        del values["self"]
        self._store(values)
        self.__post_init__()

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    config_class.__init__ = __init__  # type: ignore[misc]
    return config_class
