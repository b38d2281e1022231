"""stillflow.Snapshot: what a session has in memory at one instant, kept without copying it, to go back to."""

from __future__ import annotations

from stillflow import _engine
from stillflow.names import public
from stillflow.plan import compile_plan
from stillflow.plan.emit import engine_variable
from stillflow.saver import session_state
from stillflow.session import feeds
from stillflow.session.session import BaseSession

_KEPT_AS_STATES = frozenset(("RANDOM_STATE", "INPUT_POSITIONS"))


@public("Snapshot")
class Snapshot:
    """The values of a session's variables, and the positions of its random ops and iterators, at the last `save`.

    Nothing is written to disk, and nothing is copied until it has to be: a variable that is updated after `save` is
    copied by that update, once. Saving and restoring take microseconds for each variable, whatever its size:

        snapshot = tf.Snapshot(session)
        snapshot.save()
        session.run(train_op)
        if session.run(loss) > best:
            snapshot.restore()

    The snapshot keeps the memory of what it holds, and its session's.
    """

    def __init__(self, session):
        """Holds nothing yet. Raises TypeError if `session` is no tf.Session."""
        if not isinstance(session, BaseSession):
            raise TypeError(f"session must be a tf.Session, but got {type(session)}")
        self._session = session
        self._variables: list = []
        self._known_edits = None
        self._values: _engine.Snapshot | None = None
        self._streams: dict = {}
        self._states: dict = {}
        self._parts: dict = {}

    def save(self):
        """Keeps the state that the session has now, in the place of what was kept before.

        Runs of other threads that are under way meanwhile may be kept half done.

        Raises RuntimeError if the session is closed.
        """
        core = self._open_core()
        self._find_variables(core)
        self._values = _engine.Snapshot(core, self._variables)
        self._streams = core.random_states()
        self._states = core.op_states()
        self._parts = {
            name: part.save(self._session)
            for name, part in session_state._parts.items()
            if name not in _KEPT_AS_STATES
        }

    def restore(self):
        """Gives the session the state that was kept; as often as wanted.

        Variables that had no value have none again. Those that have been added to the graph since are left alone.

        Raises RuntimeError if the session is closed, or nothing has been saved.
        """
        core = self._open_core()
        if self._values is None:
            raise RuntimeError("Snapshot.restore was called before Snapshot.save: there is nothing to restore.")
        for name, (key, _, high) in core.random_states().items():
            # What ran for the first time since then was at the start of its stream, where the low counter is 0.
            core.set_random_state(name, *self._streams.get(name, (key, 0, high)))
        for name in core.op_states():
            state = self._states.get(name) or self._first_state(name)
            core.restore_op_state(name, state)
        for name, state in self._parts.items():
            if state is not None:
                session_state._parts[name].restore(self._session, state)
        self._values.restore()

    def _open_core(self):
        if self._session._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        return self._session._core

    def _find_variables(self, core):
        graph = self._session.graph
        edits = graph.version, graph._edits
        if edits != self._known_edits:
            self._variables = [engine_variable(core, op) for op in graph.get_operations() if op._op_def.is_variable]
            self._known_edits = edits

    def _first_state(self, name):
        """The state with which an op begins: that of one in a session of its own, which never runs."""
        op = self._session.graph.get_operation_by_name(name)
        scratch = _engine.Session(1)
        inputs = list(op.inputs)
        dims = [tensor._dims for tensor in inputs]
        compile_plan(
            (), (op,), inputs, dims, scratch, self._session._kernels,
            lambda: [feeds.make_feed(tensor, d) for tensor, d in zip(inputs, dims, strict=True)],
        )  # fmt: skip
        return scratch.op_states().get(name, b"")  # nothing is the state of an iterator that was not initialized
