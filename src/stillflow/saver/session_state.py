"""What a session needs, besides its variables, to go on exactly where a checkpoint was written.

It is kept in the checkpoint as string scalars under reserved names, which TensorFlow does not ask for: the positions
of random ops, and whatever has been registered, as the positions of input pipelines.
"""

from __future__ import annotations

import base64
import json
import logging
import operator
import os
import weakref
from collections.abc import Callable
from typing import NamedTuple, Protocol

from stillflow import _engine, errors
from stillflow.graph import dtypes
from stillflow.ops.registry import Kernel
from stillflow.saver.checkpoint_reader import RESERVED_PREFIX
from stillflow.session.reproducibility import random_state

_WORDS = 2**64


class MisfitError(ValueError):
    """Saved state that is not one of this graph."""


class _Part(NamedTuple):
    save: Callable  # session -> bytes, or None if there is nothing to keep
    check: Callable  # (session, bytes): raises MisfitError
    restore: Callable  # (session, bytes): raises MisfitError and has changed nothing, or has restored all of it


_parts: dict[str, _Part] = {}


def register(name, save, check, restore):
    """Makes a part of a session's state go into its checkpoints.

    Args:
      name: of the part, in upper case.
      save: a function of the session that returns bytes, or None if there is nothing to keep.
      check: a function of the session and such bytes that raises MisfitError if they do not fit.
      restore: a function of the session and such bytes; it restores all of it, or raises MisfitError.
    """
    _parts[name] = _Part(save, check, restore)


class Policy(Protocol):
    """When the state in a checkpoint is restored into sessions of a graph, and what a checkpoint says about that."""

    def note(self, session) -> bytes | None:
        """What to keep in a checkpoint, or None."""

    def resumes(self, note: bytes | None, prefix: str) -> bool:
        """Whether to restore the state in the checkpoint `prefix`, which has this note."""


class _Never:
    def note(self, session):
        return None

    def resumes(self, note, prefix):
        return False


# For graphs that use a model and do not go on with its training.
NEVER: Policy = _Never()

_policies: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # {graph: Policy}
_NOTE = "RUN"


def set_policy(graph, policy: Policy):
    """Makes sessions of a graph restore state as `policy` says; without one they always do."""
    _policies[graph] = policy


def note(session, prefix):
    """Makes the session's state a part of the checkpoint that it is about to write at `prefix`."""
    values = {name: part.save(session) for name, part in sorted(_parts.items())}
    if session.graph in _policies and any(value is not None for value in values.values()):
        values[_NOTE] = _policies[session.graph].note(session)
    for name, value in values.items():
        if value is None:
            continue
        try:
            _engine.set_note(session._core, os.fsencode(prefix), (RESERVED_PREFIX + name).encode(), value)
        except _engine.EngineError as error:
            raise errors.make(error.code, error.message, None) from None


def forget(session, prefix):
    """Forgets what was noted for a checkpoint that was not written."""
    _engine.clear_notes(session._core, os.fsencode(prefix))


class SavedState:
    """The state of a session in a checkpoint."""

    def __init__(self, prefix):
        self._prefix = prefix
        reader = _engine.CheckpointReader(os.fsencode(prefix))
        self._values = {
            name: reader.read((RESERVED_PREFIX + name).encode())
            for name in (*sorted(_parts), _NOTE)
            if (RESERVED_PREFIX + name).encode() in reader.tensors
        }
        self._note = self._values.pop(_NOTE, None)

    def check(self, session):
        """Raises FailedPreconditionError if some of it does not fit the session's graph."""
        for name, value in self._values.items():
            try:
                _parts[name].check(session, value)
            except MisfitError as error:
                raise errors.make(errors.FAILED_PRECONDITION, self._text(name, error), None) from None

    def restore(self, session):
        """Restores what fits, and logs a warning for what does not; that is left as it is."""
        policy = _policies.get(session.graph)
        if policy is not None and not policy.resumes(self._note, self._prefix):
            return
        for name, value in self._values.items():
            try:
                _parts[name].check(session, value)
                _parts[name].restore(session, value)
            except MisfitError as error:
                logging.getLogger("tensorflow").warning("%s", self._text(name, error))

    def _text(self, name, error):
        what = name.lower().replace("_", " ")
        return f"The {what} saved in {self._prefix} does not fit the graph and is not restored: {error}"


# ---- Random ops ---------------------------------------------------------------------------------------------------


def _save_random_state(session):
    state = random_state(session)
    states = {name: data for name, data in state["states"].items() if _state_kind(session.graph, name) == "op"}
    if not state["streams"] and not states:
        return None
    streams = {name: [stream["key"], stream["counter"]] for name, stream in state["streams"].items()}
    states = {name: base64.b64encode(data).decode() for name, data in states.items()}
    return json.dumps({"version": 1, "streams": streams, "states": states}, sort_keys=True).encode()


def _parse(data):
    try:
        found = json.loads(data)
        if found["version"] != 1:
            raise MisfitError(f"it has version {found['version']}")
        streams = {name: {"key": key, "counter": counter} for name, (key, counter) in found["streams"].items()}
        states = {name: base64.b64decode(text, validate=True) for name, text in found["states"].items()}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise MisfitError(f"it cannot be read: {error}") from None
    return {"streams": streams, "states": states}


def _check_random_state(session, data):
    state = _parse(data)
    for name, stream in state["streams"].items():
        _check_stream(_operation(session.graph, name, "random"), stream)
    for name in state["states"]:
        _operation(session.graph, name, "op")


def _operation(graph, name, kind):
    try:
        op = graph.get_operation_by_name(name)
    except (KeyError, ValueError):
        raise MisfitError(f"there is no operation {name}") from None
    if _kind_of(op) != kind:
        raise MisfitError(f"{name} ({op.type}) has no such state")
    return op


def _kind_of(op):
    lowering = op._op_def.lowering
    return lowering.state if isinstance(lowering, Kernel) else None


def _state_kind(graph, name):
    """Of what kind the state of a node is; None for what is no node of the graph."""
    try:
        return _kind_of(graph.get_operation_by_name(name))
    except (KeyError, ValueError):
        return None


def _check_stream(op, stream):
    seeds = op._attrs["seed"], op._attrs["seed2"]
    if seeds != (0, 0) and (stream["key"], stream["counter"] // _WORDS) != tuple(seed % _WORDS for seed in seeds):
        raise MisfitError(
            f"{op.name} has the seeds {seeds[0]} and {seeds[1]}, the saved one {stream['key']} and "
            f"{stream['counter'] // _WORDS}"
        )


def _restore_random_state(session, data):
    before = random_state(session)
    try:
        random_state(session, restore=_parse(data))
    except (errors.OpError, TypeError, ValueError) as error:
        random_state(session, restore=before)
        raise MisfitError(str(error)) from None


# ---- Positions of iterators ---------------------------------------------------------------------------------------
#
# A line of JSON that names the iterators, with the size of each position and the pipelines that it may belong to;
# then the positions.


def _save_positions(session):
    graph = session.graph
    positions = {
        name: data
        for name, data in session._core.op_states().items()
        if _state_kind(graph, name) == "position" and not _is_saved_apart(graph.get_operation_by_name(name))
    }
    if not positions:
        return None
    iterators = [
        [name, len(data), sorted(_pipelines(graph.get_operation_by_name(name)))] for name, data in positions.items()
    ]
    header = json.dumps({"version": 1, "iterators": iterators}).encode()
    return b"\n".join((header, b"".join(positions.values())))


def _is_saved_apart(iterator):
    """Whether the graph has nodes that save its position when they are asked to."""
    return any(user.type == "SerializeIterator" for user in iterator.outputs[0].consumers())


def _pipelines(iterator):
    """The pipelines that an iterator may be started at, as the types of their nodes."""
    starts = (user for user in iterator.outputs[0].consumers() if user.type == "MakeIterator")
    return {_pipeline_text(start.inputs[0].op) for start in starts}


def _pipeline_text(op):
    """The types of the nodes of a pipeline, those of its arguments left out."""
    text, pending, seen = [], [op], set()
    while pending:
        each = pending.pop()
        text.append(each.type)
        if each not in seen:
            seen.add(each)
            pending.extend(tensor.op for tensor in each.inputs if tensor.dtype == dtypes.variant)
    return " ".join(text)


def _parse_positions(data):
    try:
        header, _, rest = data.partition(b"\n")
        found = json.loads(header)
        if found["version"] != 1:
            raise MisfitError(f"it has version {found['version']}")
        positions, begin = {}, 0
        for name, size, pipelines in found["iterators"]:
            positions[str(name)] = rest[begin : begin + operator.index(size)], set(pipelines)
            begin += size
        if begin != len(rest):
            raise MisfitError("it is not complete")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise MisfitError(f"it cannot be read: {error}") from None
    return positions


def _check_positions(session, data):
    for name, (_, pipelines) in _parse_positions(data).items():
        op = _operation(session.graph, name, "position")
        if pipelines and not pipelines & _pipelines(op):
            raise MisfitError(f"{name} goes through another pipeline")


def _restore_positions(session, data):
    for name, (position, _) in _parse_positions(data).items():
        try:
            session._core.restore_op_state(name, position)
        except _engine.EngineError as error:
            raise MisfitError(f"{error.message}: {name}") from None


register("INPUT_POSITIONS", _save_positions, _check_positions, _restore_positions)
register("RANDOM_STATE", _save_random_state, _check_random_state, _restore_random_state)
