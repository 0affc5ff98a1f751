"""Subclasses of Estimator cannot override its members."""

from collections.abc import Iterable

from estimator_train.estimator.private_names import PrivateNames


def refuse_overridden_members(cls: type, members: Iterable[str]) -> None:
    """Checks that a class overrides no member of Estimator but those that programs were seen to.

    Args:
      cls: The class of an estimator.
      members: The names of Estimator's members.

    Raises:
      ValueError: It overrides members.
    """
    refused = {name for name in members if not name.startswith("__")} - vars(PrivateNames).keys()
    overridden = sorted(
        {name for base in cls.__mro__ if not _is_ours(base) for name in vars(base)} & refused
    )
    if overridden:
        raise ValueError(
            "Subclasses of Estimator cannot override members of Estimator. "
            f"{cls} does override {overridden}"
        )


def _is_ours(cls: type) -> bool:
    """Whether a class belongs to this package, which may override members for its own needs."""
    return cls.__module__.split(".")[0] == __name__.split(".")[0]
