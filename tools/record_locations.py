"""Writes src/stillflow/names/locations.json: where TensorFlow 1.15.5 keeps its public names.

Run with a Python 3.7 that has tensorflow==1.15.5. {module below tensorflow: {attribute: public name}}, for each
module that has a public thing: defines or imports it; raw_ops.X stands for the function of op X in
gen_*_ops, and pb2 for what a module of generated messages has.
"""

import importlib
import inspect
import json
import operator
import os
import pkgutil
import re
import sys
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
warnings.filterwarnings("ignore")

import record_op_defs  # noqa: E402
import tensorflow as tf  # noqa: E402
import tensorflow_core  # noqa: E402
import tensorflow_estimator  # noqa: E402

TARGET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src", "stillflow", "names", "locations.json")
SKIPPED = re.compile(
    r"_test$|_test_|\.testing|tests\.|debug|tools|xla|tensorrt|benchmark|keras\.api|autograph\.pyct|_api|lite\."
)


# Parts of contrib that pass on everything they import.
CARELESS = (
    "contrib.quantization contrib.specs contrib.labeled_tensor contrib.tensor_forest.tensor_forest_ops"
    " contrib.layers.feature_column.lookup"
).split()


# Modules of constants, texts and numbers, and where those are public.
CONSTANTS = {
    "python.saved_model.constants": "saved_model",
    "python.saved_model.signature_constants": "saved_model.signature_constants",
    "python.saved_model.tag_constants": "saved_model.tag_constants",
    "python.framework.versions": "",
}


# What public modules besides those below _api are called.
API = (
    "tensorflow.contrib",
    "tensorflow.python.keras.api",
    "tensorflow_estimator.python.estimator.api",
    "tensorflow_estimator._api",
    "estimator",
)


def is_of_tensorflow(name, value):
    if isinstance(value, (bool, int, float, str, bytes, tuple, list, dict, frozenset, type(None))):
        return False
    home = getattr(value, "__module__", None)
    return not name.endswith("_eager_fallback") and (not isinstance(home, str) or home.startswith("tensorflow"))


def preference(name):
    """Names are preferred that are not of contrib, and are short."""
    return name.startswith("contrib."), name.count("."), len(name)


def public_objects():
    """{id of a public function, class or constant of a kind of its own: its shortest name}, and the objects."""
    found, kept = {}, []

    def walk(module, prefix, seen):
        for name in sorted(dir(module)):
            value = getattr(module, name, None)
            if name.startswith("_") or name == "tf_export":  # that contrib passes on by mistake
                continue
            if inspect.ismodule(value):
                is_api = "_api" in value.__name__ or ".api._v1" in value.__name__ or value.__name__.startswith(API)
                is_left_out = prefix + name in ("compat.v1", "compat.v2", *CARELESS)
                if is_api and value.__name__ not in seen and not is_left_out:
                    walk(value, prefix + name + ".", seen | {value.__name__})
            elif is_of_tensorflow(name, value):
                kept.append(value)
                known = found.get(id(value))
                full = prefix + name
                if known is None or preference(full) < preference(known):
                    found[id(value)] = full

    walk(tf, "", {tf.__name__})
    return found, kept


def modules():
    for prefix, package in (
        ("tensorflow.python.", tensorflow_core.python),
        ("tensorflow.contrib.", tf.contrib),
        ("tensorflow_estimator.python.", tensorflow_estimator.python),
    ):
        for info in pkgutil.walk_packages(package.__path__, prefix, onerror=lambda name: None):
            if not SKIPPED.search(info[1]):
                try:
                    yield importlib.import_module(info[1])
                except Exception as error:  # noqa: BLE001  what needs hardware or other packages
                    print("left out:", info[1], type(error).__name__)


def is_generated_function(value):
    return inspect.isfunction(value) and ".gen_" in str(value.__module__)


def op_of(name, value):
    """The op of a function in a gen_*_ops module: its name in CamelCase, as raw_ops has it."""
    return getattr(value, "__name__", None) == name and _RAW.get(name.replace("_", "").lower())


def _op_of(value):
    return op_of(getattr(value, "__name__", ""), value)


_RAW = {name.lower(): name for name in [*dir(tf.raw_ops), *record_op_defs.CONTRIB]}


def messages():
    """{module of generated code: {message, enum or value of an enum: "pb2"}}."""
    found = {}
    core = pkgutil.walk_packages(tensorflow_core.core.__path__, "tensorflow.core.", onerror=lambda name: None)
    for module in [*(info[1] for info in core), "tensorflow.contrib.training.python.training.hparam_pb2"]:
        if module.endswith("_pb2"):
            file = importlib.import_module(module).DESCRIPTOR
            names = list(file.message_types_by_name) + list(file.enum_types_by_name)
            names += [value for enum in file.enum_types_by_name.values() for value in enum.values_by_name]
            found[module[len("tensorflow.") :]] = dict.fromkeys(names, "pb2")
    return found


def main():
    public, _kept = public_objects()  # kept alive: what is compared are their addresses
    found = {}
    for module in modules():
        name = re.sub(r"^tensorflow(_core|_estimator)?\.", "", module.__name__)
        if name.startswith("contrib") and ".python" not in name:
            continue  # a namespace
        is_generated = re.search(r"\.gen_\w+_ops$", name)
        entries = {}
        for attribute, value in sorted(vars(module).items()):
            if inspect.ismodule(value) or (attribute.startswith("_") and not is_generated):
                continue  # some functions of generated modules, _max, begin with an underscore
            if attribute.startswith("deprecated") and "deprecation" not in name:
                continue  # decorators of what a module defines
            if is_generated:
                op = inspect.isfunction(inspect.unwrap(value)) and op_of(attribute, value)
                if op:
                    entries[attribute] = "raw_ops." + op
            elif id(value) in public:
                entries[attribute] = public[id(value)]
            elif is_generated_function(value) and attribute.islower() and _op_of(value):
                entries[attribute] = "raw_ops." + _op_of(value)
            elif name in CONSTANTS and isinstance(value, (str, int)):
                place = operator.attrgetter(CONSTANTS[name])(tf) if CONSTANTS[name] else tf
                if getattr(place, attribute, None) == value:
                    entries[attribute] = (CONSTANTS[name] + "." + attribute).lstrip(".")
        for attribute in [key for key in entries if key.endswith("_v1")]:
            # What is public is the function of TensorFlow 1, which takes what its successor does, and more.
            if hasattr(module, attribute[:-3]):
                entries.setdefault(attribute[:-3], entries[attribute])
        if entries:
            found.setdefault(name, {}).update(entries)
    found.update(messages())
    with open(TARGET, "w") as target:
        target.write(
            "{\n"
            + ",\n".join(
                json.dumps(m) + ": " + json.dumps(e, sort_keys=True, separators=(",", ":"))
                for m, e in sorted(found.items())
            )
            + "\n}\n"
        )
    print(len(found), "modules", sum(map(len, found.values())), "names", os.path.getsize(TARGET), "bytes")


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
