"""Partial runs: one run of a graph in several calls, each of which may feed what the ones before have fetched.

Every call compiles a plan for what can run now and has not run yet. What later calls will read is kept.
"""

from __future__ import annotations

import itertools
import threading

from stillflow import errors
from stillflow.graph.operation import Tensor
from stillflow.ops.registry import Special
from stillflow.plan import compile_plan
from stillflow.plan.branches import conditional_operations
from stillflow.plan.prune import needed_operations
from stillflow.session import feeds
from stillflow.session.fetches import Fetches


class PartialRuns:
    """The partial runs of a session, by handle."""

    def __init__(self, session):
        self._session = session
        self._runs: dict = {}
        self._numbers = itertools.count()

    def set_up(self, fetches, fed):
        """A new handle. `fetches` and `fed` are all that the calls may ask for and bring."""
        graph = self._session._graph
        found = Fetches(self._session, fetches)
        if not found.tensors and not found.targets:
            raise _invalid("Must specify at least one target to fetch or execute.")
        run = _PartialRun(self._session, found.tensors, found.targets, _feed_tensors(graph, fed or ()))
        handle = f"{'.'.join(t.name for t in found.tensors)};{next(self._numbers)}"
        self._runs[handle] = run
        return handle

    def go_on(self, handle, fetches, feed_dict):
        run = self._runs.get(handle) if isinstance(handle, str) else None
        if run is None:
            raise _invalid("Must run 'setup' before performing partial runs!")
        found = Fetches(self._session, fetches)
        values = run.go_on(found.tensors, found.targets, feeds.expand(self._session._graph, feed_dict))
        if run.is_complete:
            self._runs.pop(handle, None)
        return found.put_together(values)


def _feed_tensors(graph, keys):
    if not isinstance(keys, (list, tuple)):
        keys = [keys]
    return [tensor for key in keys for tensor in feeds.tensors_of(graph, key)]


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


class _PartialRun:
    """What one handle stands for: what is still to come, and the values computed so far."""

    def __init__(self, session, fetches, targets, feed_tensors):
        self._session = session
        self._feeds = dict.fromkeys(feed_tensors, False)  # whether it has been fed
        self._fetches = dict.fromkeys((*fetches, *targets), False)  # whether it has been fetched
        self._operations = needed_operations(fetches, targets, feed_tensors)
        # What is in a branch may not have run and has no value to keep: it runs again, unless that changes something.
        self._conditional = conditional_operations(self._operations)
        self._repeated = {op for op in self._conditional if not op._op_def.is_stateful}
        self._values: dict = {}  # Tensor -> its value: what was fed and what was computed
        self._done: set = set()
        self._lock = threading.Lock()

    @property
    def is_complete(self):
        return all(self._feeds.values()) and all(self._fetches.values())

    def go_on(self, tensors, targets, pairs):
        with self._lock:
            self._check(pairs, self._feeds, "feed", lambda pair: pair[0], "fed")
            self._check([*tensors, *targets], self._fetches, "fetch", lambda element: element, "fetched")
            values = {tensor: feeds.convert(tensor, value) for tensor, value in pairs}
            known = {**self._values, **values}
            self._check_computable([*tensors, *targets], known)
            results = self._run(tensors, targets, known)
            self._values = known
            for tensor in values:
                self._feeds[tensor] = True
            for element in (*tensors, *targets):
                self._fetches[element] = True
            return results

    @staticmethod
    def _check(items, table, kind, element_of, past):
        for item in items:
            element = element_of(item)
            name = element.name
            if element not in table:
                raise _invalid(f"The {kind} {name} was not specified in partial_run_setup.")
            if table[element]:
                raise _invalid(f"The {kind} {name} has already been {past}.")

    def _check_computable(self, elements, known):
        """Raises InvalidArgumentError if one depends on a feed that is yet to come."""
        missing = [tensor for tensor, is_fed in self._feeds.items() if tensor not in known and not is_fed]
        for element in elements:
            tensors, targets = ([element], []) if isinstance(element, Tensor) else ([], [element])
            needed = set(needed_operations(tensors, targets, known, self._done))
            self._check_kept(needed - self._done, known)
            inputs = {tensor for op in needed for tensor in op._inputs} | set(tensors)
            if any(tensor in inputs for tensor in missing):
                name = element.name
                raise _invalid(f"Fetch {name} can't be computed from the feeds that have been fed so far.")

    def _check_kept(self, running, known):
        """Raises UnimplementedError if an operation reads what has run in a branch and cannot run again."""
        lost = self._done & self._conditional
        for op in running:
            for tensor in op._inputs:
                if tensor._op in lost and tensor not in known and not _is_variable(tensor):
                    message = f"Partial runs do not keep {tensor.name}, which is computed in a branch or a loop"
                    raise errors.make(errors.UNIMPLEMENTED, message, op)

    def _run(self, tensors, targets, known):
        """Runs what is not done; adds to `known` what comes after will read."""
        session = self._session
        fed = list(known)
        running = set(needed_operations(tensors, targets, fed, self._done)) - self._done
        kept = [tensor for tensor in self._read_later(running) if tensor not in known and tensor not in tensors]
        wanted = [*tensors, *kept]
        dims = [known[tensor].shape for tensor in fed]
        with session._graph._lock:
            plan = compile_plan(
                wanted, targets, fed, dims, session._core, session._kernels,
                lambda: [feeds.make_feed(tensor, d) for tensor, d in zip(fed, dims, strict=True)], self._done,
                session._devices,
            )  # fmt: skip
        results = plan.program.run([known[tensor] for tensor in fed], session._timeout_nanos)
        for tensor, value in zip(wanted, results, strict=True):
            if not _is_variable(tensor):
                known[tensor] = feeds.convert(tensor, value)
        self._done.update(op for op in running - self._repeated if not isinstance(op._op_def.lowering, Special))
        return results[: len(tensors)]

    def _read_later(self, running):
        """The outputs of running operations that those still to come will read."""
        later = [op for op in self._operations if op not in self._done and op not in running - self._repeated]
        read = dict.fromkeys(tensor for op in later for tensor in op._inputs)
        read.update(dict.fromkeys(element for element in self._fetches if isinstance(element, Tensor)))
        kept = running - self._conditional
        return [tensor for tensor in read if tensor._op in kept and not _is_variable(tensor)]


def _is_variable(tensor):
    return tensor._dtype._is_ref_dtype
