"""What a SequenceQueueingStateSaver is given: the sequences, contexts and states of one example, checked."""

from __future__ import annotations

from stillflow.contrib.training.run_time_checks import check_rank
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("contrib.training.python.training.sequence_queueing_state_saver._SequenceInputWrapper")
class SequenceInputs:
    """The length and key of an example, and the dictionaries of its sequences and contexts, as tensors.

    Raises:
      TypeError: for what is no dictionary, or no string in it.
      ValueError: for no sequences, or a colon in a name.
    """

    def __init__(self, length, key, sequences, context):
        self.length = convert_to_tensor(length, name="length")
        self.key = convert_to_tensor(key, name="key")
        for what, tensors in (("sequences", sequences), ("context", context)):
            if not isinstance(tensors, dict):
                raise TypeError(f"{what} must be a dict")
        if not sequences:
            raise ValueError("must have at least one sequence tensor")
        _check_names("sequence", sequences)
        _check_names("context", context)
        self.sequences = {k: convert_to_tensor(v, name=f"sequence_{k}") for k, v in sequences.items()}
        self.context = {k: convert_to_tensor(v, name=f"context_{k}") for k, v in context.items()}


def _check_names(kind, tensors):
    for name in tensors:
        if not isinstance(name, str):
            raise TypeError(f"{kind} key must be string: {name}")
        if ":" in name:
            raise ValueError(f"{kind} key may not have a colon: '{name}'")


def prepare(inputs, states):
    """(length, key, states, sequences, context): scalars that are checked when they are computed, and sorted tensors.

    Raises:
      ValueError: if shapes are not known, but for the length of sequences.
      TypeError: if the length is not an int32, or the key no string.
    """
    states = {name: convert_to_tensor(value, name=f"state_{name}") for name, value in states.items()}
    _require_shapes("state", states)
    _require_shapes("context", inputs.context)
    _require_shapes("sequence", inputs.sequences, without_first=True)
    length = check_rank(inputs.length, 0)
    key = check_rank(inputs.key, 0)
    if length.dtype != dtypes.int32:
        raise TypeError(f"length dtype must be int32, but received: {length.dtype}")
    if key.dtype != dtypes.string:
        raise TypeError(f"key dtype must be string, but received: {key.dtype}")
    return length, key, *(dict(sorted(group.items())) for group in (states, inputs.sequences, inputs.context))


def _require_shapes(label, tensors, without_first=False):
    for name, tensor in tensors.items():
        if not tensor.shape[1 if without_first else 0 :].is_fully_defined():
            which = "(ignoring first dimension)" if without_first else ""
            raise ValueError(f"Shape for {label} {name} is not fully defined {which}: {tensor.shape}")
