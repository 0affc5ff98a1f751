#!/usr/bin/env bash
# protobuf 7.36.2, Python 3.11.
#
# protobuf 7 has removed `google.protobuf.service` with the base class of services, but still ships
# `google.protobuf.service_reflection`, whose metaclasses make classes that derive from it. A method
# of such a stub raises SystemError instead of an error that names the message, until a program has
# made the class of the response; protobuf 3 raises "TypeError: No message class registered".
#
# Output seen:
#   service: ModuleNotFoundError
#   service_reflection: imported
#   before the class is made: SystemError error return without exception set
#   after: Response
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/services.py" <<'PYTHON'
import importlib

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

for name in ("service", "service_reflection"):
    try:
        importlib.import_module(f"google.protobuf.{name}")
        print(f"{name}: imported")
    except ImportError as error:
        print(f"{name}: {type(error).__name__}")

from google.protobuf.service_reflection import GeneratedServiceStubType, GeneratedServiceType

file = descriptor_pb2.FileDescriptorProto(name="calls.proto", package="calls")
for name in ("Request", "Response"):
    file.message_type.add(name=name)
file.service.add(name="Calls").method.add(
    name="call", input_type=".calls.Request", output_type=".calls.Response"
)
pool = descriptor_pool.Default()
pool.AddSerializedFile(file.SerializeToString())
members = {"DESCRIPTOR": pool.FindServiceByName("calls.Calls")}
Calls = GeneratedServiceType("Calls", (), dict(members))
Stub = GeneratedServiceStubType("Stub", (Calls,), dict(members))


class Channel:
    def CallMethod(self, method, controller, request, response_class, done):
        return response_class.DESCRIPTOR.name


try:
    print("before the class is made:", Stub(Channel()).call(None, None))
except Exception as error:
    print("before the class is made:", type(error).__name__, error)
message_factory.GetMessageClass(pool.FindMessageTypeByName("calls.Response"))
print("after:", Stub(Channel()).call(None, None))
PYTHON
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet protobuf==7.36.2
"$folder/venv/bin/python" "$folder/services.py" | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen:/,/^set/s/^#   //p' "$0")
