"""Base classes of services, which protobuf 7 has removed: `google.protobuf.service`.

Modules that `protoc` generated with `py_generic_services` derive classes from them.
"""

from collections.abc import Callable
from typing import Any

_Done = Callable[[Any], None] | None


class RpcException(Exception):  # noqa: N818
    """Error of a call."""


class Service:
    """Base class of services."""

    @staticmethod
    def GetDescriptor() -> Any:  # noqa: N802
        """Returns the descriptor of the service."""
        raise NotImplementedError

    def CallMethod(  # noqa: N802
        self, method_descriptor: Any, rpc_controller: Any, request: Any, done: _Done
    ) -> Any:
        """Calls the method of a descriptor."""
        raise NotImplementedError

    def GetRequestClass(self, method_descriptor: Any) -> Any:  # noqa: N802
        """Returns the class of a method's requests."""
        raise NotImplementedError

    def GetResponseClass(self, method_descriptor: Any) -> Any:  # noqa: N802
        """Returns the class of a method's responses."""
        raise NotImplementedError


class RpcController:
    """Base class of objects that control a call."""

    def Reset(self) -> None:  # noqa: N802
        """Prepares the object for the next call."""
        raise NotImplementedError

    def Failed(self) -> bool:  # noqa: N802
        """Returns whether the call failed."""
        raise NotImplementedError

    def ErrorText(self) -> str:  # noqa: N802
        """Returns the description of the error."""
        raise NotImplementedError

    def StartCancel(self) -> None:  # noqa: N802
        """Asks the server to cancel the call."""
        raise NotImplementedError

    def SetFailed(self, reason: str) -> None:  # noqa: N802
        """Marks the call as failed."""
        raise NotImplementedError

    def IsCanceled(self) -> bool:  # noqa: N802
        """Returns whether the client cancelled the call."""
        raise NotImplementedError

    def NotifyOnCancel(self, callback: Callable[[], None]) -> None:  # noqa: N802
        """Sets a function that is called when the call is cancelled."""
        raise NotImplementedError


class RpcChannel:
    """Base class of the connections of stubs."""

    def CallMethod(  # noqa: N802
        self,
        method_descriptor: Any,
        rpc_controller: Any,
        request: Any,
        response_class: Any,
        done: _Done,
    ) -> Any:
        """Calls a remote method."""
        raise NotImplementedError
