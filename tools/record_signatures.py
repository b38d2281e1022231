"""Writes tests/data/signatures.json: the public names of TensorFlow 1.15.5 with their signatures.

Run with a Python 3.7 that has tensorflow==1.15.5. A function is [[name, default] or [name], ...]; "*name" and
"**name" collect the rest. A class is {"__init__": ..., method: ...}, with what it and TensorFlow's classes that it
derives from define. Other things are the name of their type. A default that JSON cannot hold is {"repr": text}.
"""

import enum
import inspect
import json
import os
import types
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
warnings.filterwarnings("ignore")

import tensorflow as tf  # noqa: E402
from tensorflow.python.util import tf_inspect  # noqa: E402

TARGET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "data", "signatures.json")
# Modules that are no namespaces of their own: the versions of the API, and what the interpreter adds.
LEFT_OUT = ("compat.v1", "compat.v2", "contrib", "python", "pywrap_tensorflow", "tools", "core")


def default_of(value):
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else {"repr": repr(value)}
    if isinstance(value, (tuple, list)):
        return [default_of(item) for item in value]
    if isinstance(value, tf.DType):
        return {"repr": "tf." + value.name}
    if isinstance(value, enum.Enum):
        return {"repr": str(value)}
    if isinstance(value, (type, types.FunctionType)):
        return {"repr": value.__name__}
    return {"repr": type(value).__name__}


def signature_of(function):
    try:
        spec = tf_inspect.getfullargspec(function)
    except TypeError:
        return None
    defaults = spec.defaults or ()
    first = len(spec.args) - len(defaults)
    found = []
    for i, name in enumerate(spec.args):
        found.append([name] if i < first else [name, default_of(defaults[i - first])])
    if spec.varargs:
        found.append(["*" + spec.varargs])
    for name in spec.kwonlyargs:
        found.append([name, default_of((spec.kwonlydefaults or {}).get(name))])
    if spec.varkw:
        found.append(["**" + spec.varkw])
    if found and found[0][0] in ("self", "cls"):
        del found[0]
    return found


def methods_of(cls):
    found = {}
    for name in sorted(dir(cls)):
        if name.startswith("_") and name != "__init__":
            continue
        owner = next((base for base in cls.__mro__ if name in vars(base)), None)
        if owner is None or "tensorflow" not in owner.__module__:
            continue
        value = inspect.getattr_static(cls, name)
        if isinstance(value, property):
            found[name] = "property"
        elif callable(getattr(cls, name, None)):
            signature = signature_of(getattr(cls, name))
            found[name] = "method" if signature is None else signature
    return found


def describe(value):
    if inspect.isclass(value):
        return methods_of(value) if "tensorflow" in value.__module__ else "class"
    if callable(value):
        signature = signature_of(value)
        return "function" if signature is None else signature
    return type(value).__name__


def is_namespace(name, value):
    is_generated = "api" in value.__name__ or ("tensorflow" in value.__name__ and name in ("flags", "app.flags"))
    return is_generated and name not in LEFT_OUT


def walk(module, prefix, found, seen):
    for name in sorted(dir(module)):
        if name.startswith("_"):
            continue
        value = getattr(module, name, None)
        full = prefix + name
        if not inspect.ismodule(value):
            found["tf." + full] = describe(value)
        elif value.__name__ not in seen and is_namespace(full, value):
            walk(value, full + ".", found, seen | {value.__name__})


def main():
    found = {}
    walk(tf, "", found, frozenset([tf.__name__]))
    lines = ["{}: {}".format(json.dumps(name), json.dumps(found[name], sort_keys=True)) for name in sorted(found)]
    with open(TARGET, "w") as target:
        target.write("{\n" + ",\n".join(lines) + "\n}\n")
    print(len(found), "names", os.path.getsize(TARGET), "bytes")


if __name__ == "__main__":
    main()
