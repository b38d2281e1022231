"""Writes src/stillflow/formats/messages.binpb, the FileDescriptorSet of TensorFlow's messages.

Its source is a table of all fields, tests/data/formats/messages.json; run this after changing the table.
"""

import json
from pathlib import Path

from google.protobuf import descriptor_pb2

ROOT = Path(__file__).parent.parent
FieldType = descriptor_pb2.FieldDescriptorProto
SCALARS = {
    name: getattr(FieldType, f"TYPE_{name.upper()}")
    for name in "double float int64 uint64 int32 fixed64 fixed32 bool string bytes uint32 sint32 sint64".split()
}


def set_type(field, kind, enums):
    if kind in SCALARS:
        field.type = SCALARS[kind]
        return
    field.type = FieldType.TYPE_ENUM if kind in enums else FieldType.TYPE_MESSAGE
    field.type_name = f".{kind}"


def camel(name):
    return "".join(part.capitalize() for part in name.split("_"))


def add_map(message, full_name, field, kind, enums):
    entry = message.nested_type.add(name=f"{camel(field.name)}Entry")
    entry.options.map_entry = True
    key, value = kind[4:-1].split(",")
    for number, name, each in ((1, "key", key), (2, "value", value)):
        part = entry.field.add(name=name, number=number, label=FieldType.LABEL_OPTIONAL)
        set_type(part, each, enums)
    field.label = FieldType.LABEL_REPEATED
    field.type = FieldType.TYPE_MESSAGE
    field.type_name = f".{full_name}.{entry.name}"


def add_fields(message, full_name, fields, enums):
    oneofs = {}
    for number, name, kind, *rest in fields:
        options = rest[0] if rest else {}
        field = message.field.add(name=name, number=number, label=FieldType.LABEL_OPTIONAL)
        if options.get("repeated"):
            field.label = FieldType.LABEL_REPEATED
        if kind.startswith("map<"):
            add_map(message, full_name, field, kind, enums)
            continue
        set_type(field, kind, enums)
        if "oneof" in options:
            if options["oneof"] not in oneofs:
                oneofs[options["oneof"]] = len(message.oneof_decl)
                message.oneof_decl.add(name=options["oneof"])
            field.oneof_index = oneofs[options["oneof"]]
        if options.get("repeated") and options.get("packed") is False:
            field.options.packed = False


def new_file(package, dependencies):
    name = f"stillflow/{package.replace('.', '_')}.proto"
    return descriptor_pb2.FileDescriptorProto(name=name, package=package, syntax="proto3", dependency=dependencies)


def build(table):
    errors = new_file("tensorflow.error", [])
    file = new_file("tensorflow", ["google/protobuf/any.proto", "google/protobuf/wrappers.proto", errors.name])
    packages = []
    for name in table["packages"]:  # each may use those before it
        packages.append(new_file(name, [file.name, *(each.name for each in packages)]))
    parents = {"tensorflow": file, **{each.package: each for each in (errors, *packages)}}
    for full_name in sorted(table["messages"], key=lambda name: name.count(".")):
        scope, _, name = full_name.rpartition(".")
        parent = parents[scope]
        is_file = isinstance(parent, descriptor_pb2.FileDescriptorProto)
        message = (parent.message_type if is_file else parent.nested_type).add(name=name)
        parents[full_name] = message
        add_fields(message, full_name, table["messages"][full_name], table["enums"])
    for full_name, values in table["enums"].items():
        scope, _, name = full_name.rpartition(".")
        enum = parents[scope].enum_type.add(name=name)
        for label, number in sorted(values.items(), key=lambda item: (item[1] != 0, item[1])):
            enum.value.add(name=label, number=number)
        if len(set(values.values())) < len(values):
            enum.options.allow_alias = True
    return [errors, file, *packages]


def main():
    table = json.loads((ROOT / "tests/data/formats/messages.json").read_text())
    descriptors = descriptor_pb2.FileDescriptorSet(file=build(table))
    target = ROOT / "src/stillflow/formats/messages.binpb"
    target.write_bytes(descriptors.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
