"""What TensorFlow 1.15.5 makes of the snippets and cases of tests/programs when operations run when they are called.

    record(tf, "snippets") evaluates them, each in a process of its own: some end TensorFlow's. A value that graph
mode's golden files hold with the same bits is recorded as "=".
"""

import importlib
import json
import os
import signal
import types
from pathlib import Path

import numpy as np

from eager_runs import outcome, outcome_of_case, to_text

TESTS = str(Path(__file__).parent.parent)
_LONGEST = 20  # seconds


def record(tf, kind):
    """{area.name: outcome} of a kind, "snippets" or "values". An outcome is written as JSON has it."""
    found = {}
    for area in areas(kind):
        with np.load(os.path.join(TESTS, "golden", kind, area + ".npz"), allow_pickle=True) as golden:
            for name, evaluate in runs(tf, kind, area):
                full_name = "{}.{}".format(area, name)
                known = (
                    [golden.get("{}.{}".format(name, i)) for i in range(100)]
                    if kind == "snippets"
                    else [golden.get(name)]
                )
                found[full_name] = _in_another_process(tf, evaluate, known)
    return found


def record_more_calls(tf):
    from eager_runs import more_calls

    found = {}
    for name, function in functions_of(more_calls):
        values = outcome(tf, function)
        found[name] = values if isinstance(values, str) else [to_text(value) for value in values]
    return found


def functions_of(module):
    return [
        (name, function)
        for name, function in sorted(vars(module).items())
        if isinstance(function, types.FunctionType) and not name.startswith("_")
    ]


# What these do to variables depends on sessions.
_LEFT_OUT = ("optimizers", "state")


def areas(kind):
    return [
        file[:-3]
        for file in sorted(os.listdir(os.path.join(TESTS, "programs", kind)))
        if file.endswith(".py") and not file.startswith("_") and not (kind == "values" and file[:-3] in _LEFT_OUT)
    ]


def runs(tf, kind, area):
    """(name, function that evaluates it) for everything in an area."""
    module = importlib.import_module("programs.{}.{}".format(kind, area))
    if kind == "values":
        for name, case in sorted(module.cases(tf).items()):
            yield name, lambda case=case: outcome_of_case(tf, case)
        return
    for name, function in functions_of(module):
        yield name, lambda function=function: outcome(tf, function)


def _in_another_process(tf, evaluate, known):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.alarm(_LONGEST)
        from tensorflow.python.eager import context

        with context.eager_mode(), os.fdopen(writer, "w") as file:
            found = evaluate()
            json.dump(found if isinstance(found, str) else _brief(found, known), file)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        text = file.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else "crash"


def _brief(values, known):
    return ["=" if i < len(known) and _same(value, known[i]) else to_text(value) for i, value in enumerate(values)]


def _same(value, known):
    if known is None or isinstance(value, str):
        return False
    value = np.asarray(value)
    if value.shape != known.shape:
        return False
    if value.dtype == object:
        return value.tolist() == known.tolist()
    return value.dtype == known.dtype and value.tobytes() == known.tobytes()
