"""Functions, methods and attributes that protobuf has removed since version 3."""

from typing import Any

from google.protobuf import (
    descriptor_pb2,
    descriptor_pool,
    json_format,
    message_factory,
    symbol_database,
)

from estimator_train.legacy.removed.add import add_missing

_REPEATED, _REQUIRED, _OPTIONAL = 3, 2, 1


def prepare() -> None:
    """Adds the methods and attributes to protobuf's classes, unless they exist."""
    file = descriptor_pool.Default().FindFileByName(descriptor_pb2.DESCRIPTOR.name)
    field = descriptor_pb2.FileDescriptorProto.DESCRIPTOR.fields[0]
    add_missing(type(field), {"label": property(_find_label)})
    add_missing(type(file), {"syntax": property(_find_syntax)})
    find_class = {"GetPrototype": _get_prototype}
    add_missing(symbol_database.SymbolDatabase, find_class)
    add_missing(message_factory.MessageFactory, {**find_class, "CreatePrototype": _get_prototype})


def _find_label(field: Any) -> int:
    return _REPEATED if field.is_repeated else _REQUIRED if field.is_required else _OPTIONAL


def _find_syntax(file: Any) -> str:
    definition = descriptor_pb2.FileDescriptorProto()
    file.CopyToProto(definition)
    return definition.syntax or "proto2"


def _get_prototype(self: Any, descriptor: Any) -> Any:
    return make_class(descriptor)


def make_class(descriptor: Any) -> Any:
    """Does the same as `google.protobuf.reflection.MakeClass` of protobuf 3."""
    return message_factory.GetMessageClass(descriptor)


def parse_message(descriptor: Any, byte_str: bytes) -> Any:
    """Does the same as `google.protobuf.reflection.ParseMessage` of protobuf 3."""
    return make_class(descriptor).FromString(byte_str)


def to_json(
    message: Any,
    including_default_value_fields: bool = False,
    preserving_proto_field_name: bool = False,
    indent: int | None = 2,
    sort_keys: bool = False,
    use_integers_for_enums: bool = False,
    **named: Any,
) -> str:
    """Calls `json_format.MessageToJson`; takes the arguments and their order of protobuf 3."""
    return json_format.MessageToJson(
        message,
        always_print_fields_with_no_presence=including_default_value_fields,
        preserving_proto_field_name=preserving_proto_field_name,
        indent=indent,
        sort_keys=sort_keys,
        use_integers_for_enums=use_integers_for_enums,
        **named,
    )


def to_dict(
    message: Any,
    including_default_value_fields: bool = False,
    preserving_proto_field_name: bool = False,
    use_integers_for_enums: bool = False,
    **named: Any,
) -> dict[str, Any]:
    """Calls `json_format.MessageToDict`; takes the argument's name of protobuf 3."""
    return json_format.MessageToDict(
        message,
        always_print_fields_with_no_presence=including_default_value_fields,
        preserving_proto_field_name=preserving_proto_field_name,
        use_integers_for_enums=use_integers_for_enums,
        **named,
    )
