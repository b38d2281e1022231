"""Writes tests/golden/op_defs.txt: the signature of every op of TensorFlow 1.15.5, a line each.

Run with a Python 3.7 that has tensorflow==1.15.5. The form is that of stillflow.graph.op_def:
Name(inputs) -> (outputs) [attributes] flags
"""

import ast
import importlib
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

from tensorflow.core.framework import op_def_pb2  # noqa: E402
from tensorflow.python import pywrap_tensorflow  # noqa: E402
from tensorflow.python.framework import dtypes, load_library  # noqa: E402

# The libraries of tf.contrib that register ops when they are loaded.
LIBRARIES = (
    "boosted_trees.python.ops.boosted_trees_ops_loader", "factorization", "image", "layers", "memory_stats",
    "resampler", "seq2seq", "tensor_forest.python.tensor_forest",
)  # fmt: skip
FLAGS = ("is_stateful", "is_commutative", "allows_uninitialized_input")
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
RAW_OPS = os.path.join(ROOT, "src", "stillflow", "ops", "raw_ops.py")
TARGET = os.path.join(ROOT, "tests", "golden", "op_defs.txt")


def type_name(number):
    return dtypes.as_dtype(number).name


def arg_text(arg):
    spec = type_name(arg.type) if arg.type else arg.type_list_attr or arg.type_attr
    if arg.number_attr:
        spec = arg.number_attr + " * " + spec
    if arg.is_ref:
        spec = "Ref({})".format(spec)
    return "{}: {}".format(arg.name, spec)


def value_text(value):
    kind = value.WhichOneof("value")
    if kind == "type":
        return type_name(value.type)
    if kind == "s":
        return "'{}'".format(value.s.decode("latin-1").replace("\n", "\\n"))
    if kind == "b":
        return "true" if value.b else "false"
    if kind == "shape":
        if value.shape.unknown_rank:
            return "unknown"
        return "[{}]".format(",".join(str(dim.size) for dim in value.shape.dim))
    if kind == "list":
        if value.list.tensor:
            return "[<tensor>]"
        for name in ("s", "i", "f", "b", "type", "shape"):
            items = getattr(value.list, name)
            if len(items):
                return "[{}]".format(", ".join(item_text(name, item) for item in items))
        return "[]"
    if kind == "tensor" and len(value.tensor.tensor_shape.dim) == 1 and value.tensor.int_val:
        values = ", ".join(str(item) for item in value.tensor.int_val)
        return "{}[{}]".format(type_name(value.tensor.dtype), values)
    return "<tensor>" if kind == "tensor" else repr(getattr(value, kind))


def item_text(kind, item):
    if kind == "shape":
        return "[{}]".format(",".join(str(dim.size) for dim in item.dim))
    if kind == "type":
        return type_name(item)
    return "'{}'".format(item.decode("latin-1")) if kind == "s" else str(item)


def attr_text(attr):
    kind = attr.type
    if attr.HasField("allowed_values"):
        allowed = attr.allowed_values.list
        names = [type_name(t) for t in allowed.type] or ["'{}'".format(s.decode()) for s in allowed.s]
        choice = "{{{}}}".format(", ".join(names))
        kind = "list({})".format(choice) if kind.startswith("list") else choice
    text = "{}: {}".format(attr.name, kind)
    if attr.has_minimum:
        text += " >= {}".format(attr.minimum)
    if attr.HasField("default_value"):
        text += " = " + value_text(attr.default_value)
    return text


def ops_of_contrib():
    """The ops of tf.contrib that are here, read from the source of tf.raw_ops, which Python 3.7 cannot import."""
    with open(RAW_OPS) as file:
        for statement in ast.parse(file.read()).body:
            if isinstance(statement, ast.Assign) and statement.targets[0].id == "_OF_CONTRIB":
                return set(ast.literal_eval(statement.value.args[0].func.value).split())
    raise ValueError("tf.raw_ops does not say which ops are of tf.contrib")


def all_ops():
    ops = op_def_pb2.OpList()
    ops.ParseFromString(pywrap_tensorflow.TF_GetBuffer(pywrap_tensorflow.TF_GetAllOpList()))
    return ops.op


def main():
    recorded = {op.name for op in all_ops()} | ops_of_contrib()
    for library in LIBRARIES:
        importlib.import_module("tensorflow.contrib." + library)
    variables = importlib.import_module("tensorflow.contrib.framework.python.ops.variables")
    load_library.load_op_library(os.path.join(os.path.dirname(variables.__file__), "_variable_ops.so"))
    with open(TARGET, "w") as target:
        for op in sorted(all_ops(), key=lambda op: op.name):
            if op.name not in recorded:
                continue
            inputs = ", ".join(map(arg_text, op.input_arg))
            outputs = ", ".join(map(arg_text, op.output_arg))
            attrs = "; ".join(map(attr_text, op.attr))
            flags = " ".join(flag for flag in FLAGS if getattr(op, flag))
            target.write("{}({}) -> ({}) [{}] {}".format(op.name, inputs, outputs, attrs, flags).strip() + "\n")


if __name__ == "__main__":
    main()
