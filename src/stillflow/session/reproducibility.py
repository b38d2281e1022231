"""What a session's results depend on: random_state keeps and restores it, reproducibility_report tells about it."""

from __future__ import annotations

import hashlib
import operator
import platform

import numpy as np

from stillflow import _engine, errors
from stillflow.names import public
from stillflow.random import seeds
from stillflow.session import isa
from stillflow.session.session import BaseSession

_HALF = 2**64


@public("random_state")
def random_state(session, restore=None):
    """The positions of all random ops of a session in their streams, and optionally other ones to go on from.

    Args:
      session: a tf.Session.
      restore: what an earlier call returned, of this session or another one over the same graph, also in another
        process. Ops that it names go on from there, and those that it does not name are left alone. It may be
        restored before the ops have run, and as often as wanted.

    Returns:
      The state as it was when called: a dict that pickles, {"streams": {node name: {"key": int, "counter": int}},
      "states": {node name: bytes}}. A key has 64 bits, a counter 128; "states" has the ops that keep more than a
      position, as samplers that learn. Ops that have not run or been restored are not in it: they are at the start
      of their streams.

    Raises:
      TypeError, ValueError: for what is no such state; nothing has been restored then.
      tf.errors.FailedPreconditionError: for bytes that are not the named op's.
    """
    if not isinstance(session, BaseSession):
        raise TypeError(f"session must be a tf.Session, but got {type(session)}")
    core = session._core
    streams = {
        name: {"key": key, "counter": high * _HALF + low} for name, (key, low, high) in core.random_states().items()
    }
    state = {"streams": streams, "states": core.op_states()}
    if restore is not None:
        _restore(core, *_checked(restore))
    return state


def _checked(state):
    """The streams as {name: (key, low, high)}, and the states."""
    if not isinstance(state, dict) or not isinstance(state.get("streams"), dict):
        raise TypeError(f"restore must be what random_state returned, but got {type(state)}")
    positions = {}
    for name, stream in state["streams"].items():
        try:
            key, counter = operator.index(stream["key"]), operator.index(stream["counter"])
        except (TypeError, KeyError):
            raise TypeError(f"The stream of {name} must have a key and a counter, but is {stream}") from None
        if not (0 <= key < _HALF and 0 <= counter < _HALF**2):
            raise ValueError(f"The stream of {name} has no 64-bit key and 128-bit counter: {key}, {counter}")
        positions[name] = key, counter % _HALF, counter // _HALF
    states = state.get("states", {})
    for name, data in states.items():
        if not isinstance(data, bytes):
            raise TypeError(f"The state of {name} must be bytes, but got {type(data)}")
    return positions, states


def _restore(core, positions, states):
    for name, data in states.items():
        try:
            core.restore_op_state(name, data)
        except _engine.EngineError as error:
            raise errors.make(error.code, f"{error.message}: {name}", None) from None
    for name, position in positions.items():
        core.set_random_state(name, *position)


class Report(dict):
    """A dict that prints as indented text, one fact a line: made to be compared line by line."""

    def __str__(self):
        return "\n".join(_lines(self, ""))


def _lines(value, indent):
    for key, item in value.items():
        if isinstance(item, dict):
            yield f"{indent}{key}:" + ("" if item else " none")
            yield from _lines(item, indent + "  ")
        else:
            yield f"{indent}{key}: {item}"


@public("reproducibility_report")
def reproducibility_report(session):
    """What two people compare when their runs differ, as a dict of dicts that prints as readable text.

    Args:
      session: a tf.Session.

    Returns:
      "versions" of what computes; "seeds": the graph's, the rule for automatic ones, and those of every random op;
      "graph": the number of nodes, and a digest of names, types, inputs and attributes of all of them; "variables":
      type, shape and a digest of the bytes of each that is initialized; "streams": where random ops have got to. The
      entry "machine" is for information: results do not depend on it.
    """
    streams = _streams(session)
    graph = session.graph
    return Report(
        versions=_versions(),
        machine={
            "instruction set": _isa_of(session),
            "processor": platform.machine(),
            "system": platform.system(),
        },
        seeds=_seeds(graph),
        graph={"nodes": graph._last_id, "digest": _graph_digest(graph)},
        variables=_variables(session),
        streams=streams,
    )


def _versions():
    from importlib import metadata  # 15 ms that only reports pay

    try:
        own = metadata.version("stillflow")
    except metadata.PackageNotFoundError:
        own = "not installed"
    return {"stillflow": own, "python": platform.python_version(), "numpy": np.__version__}


def _isa_of(session):
    return next((name for name in isa.supported() if isa.kernels(name) is session._kernels), "unknown")


def _seeds(graph):
    ops = {
        op.name: f"{op._attrs['seed']}, {op._attrs['seed2']}" + _unseeded(op)
        for op in graph.get_operations()
        if "seed" in op._attrs and "seed2" in op._attrs
    }
    return {"graph": graph.seed, "rule": seeds.seed_rule(graph), "ops": ops}


def _unseeded(op):
    is_unseeded = op._attrs["seed"] == 0 and op._attrs["seed2"] == 0
    return " (not reproducible: seeded by the operating system)" if is_unseeded else ""


def _graph_digest(graph):
    return _digest(graph.as_graph_def().SerializeToString(deterministic=True))


def _digest(data):
    return hashlib.sha256(data).hexdigest()


def _variables(session):
    """Digests of the variables that have values; nothing is added to the graph for it."""
    found = {}
    for op in session.graph.get_operations():
        read = _read_of(op)
        if read is None:
            continue
        try:
            value = np.asarray(session.run(read))
        except errors.FailedPreconditionError:
            found[op.name] = "not initialized"
            continue
        data = repr(value.tolist()).encode() if value.dtype == object else value.tobytes()
        found[op.name] = f"{read.dtype.base_dtype.name} {list(value.shape)} {_digest(data)}"
    return found


def _read_of(op):
    """The tensor that gives the value of the variable that a node stands for; None for other nodes."""
    if not op._op_def.is_variable:
        return None
    if op.outputs[0].dtype._is_ref_dtype:
        return op.outputs[0]
    reads = (user for user in op.outputs[0].consumers() if user.type == "ReadVariableOp" and not user.control_inputs)
    return next((user.outputs[0] for user in reads), None)


def _streams(session):
    """Where each stream has got to: blocks of four words used since the start that its seeds say."""
    state = random_state(session)
    found = {
        name: f"seeds {stream['key']}, {stream['counter'] // _HALF}: {stream['counter'] % _HALF} blocks"
        for name, stream in state["streams"].items()
    }
    return found | {name: f"state {_digest(data)}" for name, data in state["states"].items()}
