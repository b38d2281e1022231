"""Snippets that run under TensorFlow 1.15.5 and here, with eager execution enabled, and what they show.

A file NAME.txt has sections, parted by empty lines, each with lines of Python. `tf`, `np`, `collections` and `os` are
there. Shown is the value of each expression, what is printed, and the error that ends a section. Where the first line
is "# type only", only the type of the error matters. tools/record_golden.py writes tests/golden/eager/NAME.txt.
"""

import ast
import collections
import contextlib
import io
import os
import re

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
# The file for a process of its own, which calls tf.enable_v2_behavior first.
V2_BEHAVIOR = "v2_behavior"
NAMES = sorted(name[:-4] for name in os.listdir(HERE) if name.endswith(".txt") and not name.startswith(V2_BEHAVIOR))

# What differs from run to run, or between versions of Python and numpy.
_REPLACEMENTS = (
    (r"id=\d+", "id=N"),
    (r"<[\w.]+ object at 0x[0-9a-f]+>", "<object>"),
    (r"0x[0-9a-f]+", "0x"),
    (r"\b(?:stillflow|tensorflow|tensorflow_core)(?:\.\w+)*\.(\w+)", r"\1"),
    (r"np\.(?:float|int|bool|str|bytes)\w*\(([^()]*)\)", r"\1"),
)


def sections(name):
    """The sections of a file."""
    with open(os.path.join(HERE, name + ".txt")) as file:
        return [section for section in re.split(r"\n{2,}", file.read().strip()) if section]


def outcome(section, tf):
    """What a section shows, as text."""
    names = {"tf": tf, "np": np, "collections": collections, "os": os}
    printed = io.StringIO()
    lines = []
    try:
        for node in ast.parse(section).body:
            with contextlib.redirect_stdout(printed):
                if isinstance(node, ast.Expr):
                    value = eval(compile(ast.Expression(node.value), "section", "eval"), names)
                    lines.append(repr(value))
                else:
                    exec(compile(_module(node), "section", "exec"), names)
    except Exception as error:
        text = "" if section.startswith("# type only") else ": %s" % error
        lines.append(type(error).__name__ + text)
    if printed.getvalue():
        lines.append("printed: " + printed.getvalue().rstrip("\n"))
    text = "\n".join(lines)
    for pattern, replacement in _REPLACEMENTS:
        text = re.sub(pattern, replacement, text)
    return "\n".join(line.rstrip() for line in text.splitlines())


def _module(node):
    module = ast.parse("")
    module.body = [node]
    return module


SEPARATOR = "\n-----\n"


def transcript(name, tf):
    """What all sections of a file show."""
    return SEPARATOR.join(outcome(section, tf) for section in sections(name)) + "\n"


def write_with_v2_behavior(tf, path):
    tf.enable_v2_behavior()
    with open(path, "w") as file:
        file.write(transcript(V2_BEHAVIOR, tf))
