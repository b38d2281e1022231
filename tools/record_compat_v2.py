"""Writes src/stillflow/names/compat_v2.json: what of compat.v2 tf has, too.

Run with a Python 3.7 that has tensorflow==1.15.5. {namespace: "name name=other.name ..."}, "" for compat.v2 itself: a
name alone is one that tf has too, with an equal sign it is another one's. What compat.v2 has of its own is left out.
"""

import json
import os
import types
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
warnings.filterwarnings("ignore")

import tensorflow as tf  # noqa: E402

NAMES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src", "stillflow", "names")
TARGET = os.path.join(NAMES, "compat_v2.json")
# Parts that are no API, and those that stillflow has no place for.
LEFT_OUT = ("compat.v1", "compat.v2", "contrib", "python", "core", "tools", "examples", "compiler", "lite", "xla")
PLAIN = (bool, int, float, str, bytes, tuple, list, dict)


def is_module(value):
    return isinstance(value, types.ModuleType) or type(value).__name__ == "TFModuleWrapper"


def members(module, prefix=""):
    """{public name: value} of a namespace and those in it."""
    found = {}
    for last in sorted(dir(module)):
        value = None if last.startswith("_") else getattr(module, last, None)
        if value is None or prefix + last in LEFT_OUT:
            continue
        if not is_module(value):
            found[prefix + last] = value
        elif "tensorflow" in value.__name__ and prefix.count(".") < 6:
            found.update(members(value, prefix + last + "."))
    return found


def main():
    first, second = members(tf), members(tf.compat.v2)
    names = {}
    for name in sorted(first, key=lambda name: (name.count("."), len(name), name)):
        if not isinstance(first[name], PLAIN):
            names.setdefault(id(first[name]), name)
    found = {}
    for name, value in second.items():
        namespace, _, last = name.rpartition(".")
        is_same = name in first and (first[name] is value or (isinstance(value, PLAIN) and first[name] == value))
        if is_same:
            found.setdefault(namespace, []).append(last)
        elif id(value) in names and not isinstance(value, PLAIN):
            found.setdefault(namespace, []).append(last + "=" + names[id(value)])
    with open(TARGET, "w") as target:
        json.dump({namespace: " ".join(entries) for namespace, entries in sorted(found.items())}, target, indent=0)
        target.write("\n")


if __name__ == "__main__":
    main()
