"""Signatures and defaults of everything public are those of TensorFlow 1.15.5, but for a few that say why.

tests/data/signatures.json was recorded from TensorFlow 1.15.5 by tools/record_signatures.py.
"""

import enum
import inspect
import json
from pathlib import Path

import numpy as np

import stillflow as tf

RECORDED = json.loads((Path(__file__).parent.parent / "data" / "signatures.json").read_text())

# Name, or class and method -> why its signature is not TensorFlow's.
DEVIATIONS = {
    "tf.data.experimental.make_batched_features_dataset": "the default reader has its public name",
    "tf.DType.__init__": "types are looked up, by tf.as_dtype, and never made",
    "tf.dtypes.DType.__init__": "types are looked up, by tf.as_dtype, and never made",
    "tf.convert_to_tensor": "gives references to variables where it is told to",
    "tf.convert_to_tensor_or_indexed_slices": "gives references to variables where it is told to",
    "tf.group": "the arguments by name are named",
    "tf.nn.rnn_cell.DeviceWrapper.__init__": "TensorFlow's hides what it takes",
    "tf.nn.rnn_cell.DeviceWrapper.call": "TensorFlow's hides what it takes",
    "tf.nn.rnn_cell.DropoutWrapper.__init__": "TensorFlow's hides what it takes",
    "tf.nn.rnn_cell.DropoutWrapper.call": "TensorFlow's hides what it takes",
    "tf.nn.rnn_cell.RNNCell.call": "TensorFlow's hides what it takes",
    "tf.nn.rnn_cell.ResidualWrapper.__init__": "TensorFlow's hides what it takes",
    "tf.nn.rnn_cell.ResidualWrapper.call": "TensorFlow's hides what it takes",
    "tf.print": "the arguments by name are named",
    "tf.raw_ops.ImageSummary": "a color that is a tensor is kept as what it holds",
    "tf.raw_ops.InitializeTableFromTextFile": "the delimiter is a tab; TensorFlow's default is a backslash and a t",
    "tf.raw_ops.InitializeTableFromTextFileV2": "the delimiter is a tab; TensorFlow's default is a backslash and a t",
    "tf.set_random_seed": "may say which rule of older versions deals out seeds",
    "tf.random.set_random_seed": "may say which rule of older versions deals out seeds",
    "tf.sparse.split": "no argument by position is None",
    "tf.sparse_split": "no argument by position is None",
    "tf.test.TestCase.assertRaisesWithPredicateMatch": "TensorFlow's decorator hides what it takes",
    "tf.test.TestCase.cached_session": "TensorFlow's decorator hides what it takes",
    "tf.test.TestCase.captureWritesToStream": "TensorFlow's decorator hides what it takes",
    "tf.test.TestCase.session": "TensorFlow's decorator hides what it takes",
    "tf.xla.experimental.jit_scope": "TensorFlow's decorator hides what it takes",
    "tf.train.Supervisor.managed_session": "TensorFlow's decorator hides what it takes",
    "tf.train.Coordinator.stop_on_exception": "TensorFlow's decorator hides that it takes nothing",
    "tf.train.Saver.__init__": "may save the positions of random numbers too",
    "tf.train.export_meta_graph": "nothing is collected",
    **{
        name: "TensorFlow's decorator hides what it takes"
        for name in RECORDED
        if name.startswith("tf.keras.applications.")
    },
}


def find(name):
    """The object of a public name, or None if stillflow has none."""
    found = tf
    for part in name.split(".")[1:]:
        try:
            found = getattr(found, part)
        except AttributeError:
            return None
    return found


def default_of(value):
    """A default in the form in which it was recorded."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else {"repr": repr(value)}
    if isinstance(value, (tuple, list)):
        return [default_of(item) for item in value]
    if isinstance(value, tf.DType):
        return {"repr": "tf." + value.name}
    if isinstance(value, tf.TensorShape) and value.rank is not None:
        return value.as_list()
    if isinstance(value, enum.Enum):
        return {"repr": str(value)}
    if inspect.isclass(value) or inspect.isfunction(value):
        return {"repr": value.__name__}
    return {"repr": type(value).__name__}


def signature_of(function):
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    found = [
        [stars.get(p.kind, "") + p.name, *([] if p.default is p.empty else [default_of(p.default)])]
        for p in parameters
    ]
    if found and found[0][0] in ("self", "cls"):
        del found[0]
    return found


# What a decorator of TensorFlow's makes of methods that take a shape.
OF_A_DECORATOR = [["instance"], ["input_shape"]]


def differences(name, ours, recorded):
    """What is not TensorFlow's: pairs of a name and a sentence."""
    if isinstance(recorded, dict) and inspect.isclass(ours):
        for method, expected in recorded.items():
            if not isinstance(expected, list) or expected == OF_A_DECORATOR or not hasattr(ours, method):
                continue
            found = signature_of(getattr(ours, method))
            if found is not None and found != expected:
                yield f"{name}.{method}", f"{found} instead of {expected}"
    elif isinstance(recorded, list) and callable(ours) and not inspect.isclass(ours):
        found = signature_of(ours)
        if found is not None and found != recorded:
            yield name, f"{found} instead of {recorded}"


def test_signatures_are_those_of_tensorflow(monkeypatch):
    monkeypatch.setattr("sys.argv", ["program"])  # which FLAGS are read from when somebody looks at them
    entries = [(name, find(name), recorded) for name, recorded in RECORDED.items()]
    there = [entry for entry in entries if entry[1] is not None]
    assert len(there) > 2000
    found = dict(difference for entry in there for difference in differences(*entry))
    wrong = [f"{where}: {what}" for where, what in found.items() if where not in DEVIATIONS]
    assert not wrong, "\n".join(wrong)
    assert set(DEVIATIONS) <= set(found), "a deviation that is none any more goes"
