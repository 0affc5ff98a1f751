"""Values, modules and names of protobuf 3, and calls of PyYAML 5, in a process of `run`."""

BOOLS = """
import copy
import numpy as np
import tensorflow as tf
from google.protobuf import json_format, reflection, symbol_database

numbers = tf.train.Int64List(value=[True, 2, np.bool_(False)])
numbers.value.append(True)
numbers.value.extend(flag for flag in (False, np.True_))
numbers.value.insert(0, np.True_)
numbers.value[1] = False
numbers.value[2:3] = np.array([True, True])
print(list(numbers.value), list(copy.deepcopy(numbers).value) == list(numbers.value))
print(list(tf.train.Int64List(value=(n > 1 for n in (1, 2))).value))
print(list(tf.train.Feature(int64_list={"value": [True]}).int64_list.value))
config = tf.ConfigProto(intra_op_parallelism_threads=True, device_count={"CPU": True})
config.inter_op_parallelism_threads = np.True_
config.device_count["GPU"] = False
config.graph_options.optimizer_options.global_jit_level = True
print(config.intra_op_parallelism_threads, config.inter_op_parallelism_threads,
      sorted(config.device_count.items()), config.graph_options.optimizer_options.global_jit_level)
for wrong in (1.5, "x", None):
    try:
        tf.train.Int64List(value=[True, wrong])
        print("accepted", wrong)
    except TypeError:
        pass
    try:
        config.intra_op_parallelism_threads = wrong
        print("assigned", wrong)
    except TypeError:
        pass
descriptor = tf.train.Int64List.DESCRIPTOR
print(descriptor.fields[0].label, descriptor.file.syntax)
print(json_format.MessageToDict(tf.train.Int64List(), including_default_value_fields=True))
made = symbol_database.Default().GetPrototype(descriptor), reflection.MakeClass(descriptor)
print(all(cls is tf.train.Int64List for cls in made))
"""

SERVICE = """
import tensorflow as tf
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, service
from google.protobuf.service_reflection import GeneratedServiceStubType, GeneratedServiceType

file = descriptor_pb2.FileDescriptorProto(name="sums.proto", package="sums")
for name in ("Numbers", "Sum"):
    file.message_type.add(name=name)
for name in ("Adder", "Other"):
    file.service.add(name=name).method.add(
        name="add", input_type=".sums.Numbers", output_type=".sums.Sum"
    )
pool = descriptor_pool.Default()
pool.AddSerializedFile(file.SerializeToString())
for name in ("Numbers", "Sum"):
    message_factory.GetMessageClass(pool.FindMessageTypeByName(f"sums.{name}"))
descriptor, other = (pool.FindServiceByName(f"sums.{name}") for name in ("Adder", "Other"))
Adder = GeneratedServiceType("Adder", (service.Service,), {"DESCRIPTOR": descriptor})
Stub = GeneratedServiceStubType("Stub", (Adder,), {"DESCRIPTOR": descriptor})
method = descriptor.methods[0]


class Controller(service.RpcController):
    def SetFailed(self, reason):
        print("failed:", reason)


class Channel(service.RpcChannel):
    def CallMethod(self, called, controller, request, response_class, done):
        return [called.name, request, response_class.DESCRIPTOR.name, done]


class Ten(Adder):
    def add(self, controller, request, done):
        done(10)
        return request


Adder().add(Controller(), None, lambda result: print("done:", result))
print(Ten().CallMethod(method, None, "one", lambda result: print("done:", result)))
print(Stub(Channel()).add(None, "two"), Adder.GetDescriptor() is descriptor)
print([f(method).DESCRIPTOR.name for f in (Adder().GetRequestClass, Adder().GetResponseClass)])
try:
    Ten().CallMethod(other.methods[0], None, None, None)
except RuntimeError as error:
    print(error)
try:
    service.Service().CallMethod(method, None, None, None)
except NotImplementedError:
    print("not implemented")
try:
    from google import no_such_package
except ImportError as error:
    print(type(error).__name__)
"""

LIBRARY = """
import yaml


def read(text):
    return yaml.load(text), list(yaml.load_all(text)), yaml.load(text, Loader=yaml.BaseLoader)
"""


def test_messages_take_bools_as_integers(run):
    assert run(BOOLS, switches=("--tf1",)).stdout.splitlines() == [
        "[1, 0, 1, 1, 0, 1, 0, 1] True",
        "[0, 1]",
        "[1]",
        "1 1 [('CPU', 1), ('GPU', 0)] 1",
        "3 proto3",
        "{'value': []}",
        "True",
    ]


def test_services_of_messages_work_as_with_protobuf_3(run):
    assert run(SERVICE, switches=("--tf1",)).stdout.splitlines() == [
        "failed: Method add not implemented.",
        "done: None",
        "done: 10",
        "one",
        "['add', 'two', 'Sum', None] True",
        "['Numbers', 'Sum']",
        "CallMethod() given method descriptor for wrong service type.",
        "not implemented",
        "ImportError",
    ]


def test_installed_libraries_load_yaml_without_a_loader(run, tmp_path):
    (tmp_path / "lib" / "reader-1.0.dist-info").mkdir(parents=True)
    (tmp_path / "lib" / "yaml_reader.py").write_text(LIBRARY)
    for name, text in {
        "METADATA": "Metadata-Version: 2.1\nName: reader\nVersion: 1.0\n",
        "RECORD": "yaml_reader.py,,\nreader-1.0.dist-info/METADATA,,\n",
    }.items():
        (tmp_path / "lib" / "reader-1.0.dist-info" / name).write_text(text)
    program = f"""
import sys
sys.path.append({str(tmp_path / "lib")!r})
import tensorflow as tf
import yaml_reader
import yaml
print(yaml_reader.read("n: 3"), yaml.load("[1]"))
try:
    yaml.load("a: [")
except yaml.YAMLError as error:
    print(type(error).__name__)
"""
    lines = run(program, switches=("--tf1",)).stdout.splitlines()
    assert lines == ["({'n': 3}, [{'n': 3}], {'n': '3'}) [1]", "ParserError"]
