"""CompiledOp: one op with given attributes as a small compiled graph, cached by its call signature."""

from __future__ import annotations

import collections
import hashlib
import itertools
import threading
import weakref

import numpy as np

from stillflow import _engine, errors, ops
from stillflow.eager import op_errors
from stillflow.graph import dtypes
from stillflow.graph.graph import Graph
from stillflow.graph.shape import TensorShape
from stillflow.plan.emit import engine_variable
from stillflow.session import isa
from stillflow.session.plans_by_shape import PlansByShape
from stillflow.session.process_settings import cpu_count

# What was not used for the longest time is compiled anew when it is called again.
_MOST_COMPILED = 4096


def is_handle(tensor):
    """Whether a tensor only says where something is, such as a variable or an iterator: it has no value to be fed."""
    return tensor._value is None


class CompiledOps:
    """The ops that have been called in an eager graph. Their states live in one session of the engine.

    States are found by the names of nodes, so that a node's name says all that tells one op from another, and calls
    go on where they stopped also if the op had to be compiled anew in between.
    """

    def __init__(self, eager_graph, threads=0):
        self._eager_graph = eager_graph
        self._by_key: collections.OrderedDict = collections.OrderedDict()
        self._lock = threading.Lock()
        self._generation = 0
        self._numbers = itertools.count()
        self._free_places: dict = {}  # type and sizes -> names of variables in the engine
        self.core = _engine.Session(threads if threads > 0 else cpu_count())
        self.kernels = isa.kernels()

    def start_anew(self):
        """Forgets the states of random ops."""
        with self._lock:
            self._generation += 1
            self._by_key.clear()

    def variable_place(self, dtype, shape):
        """A name for the engine, which keeps names for good: one of a variable like this that is no more, or new."""
        try:
            return self._free_places[dtype, shape._dims].pop()
        except (KeyError, IndexError):
            return f"variable_{next(self._numbers)}"

    def free_variable_with(self, owner, op):
        """Frees the memory of the variable that a node declares when the object `owner` goes.

        Its place is free when nobody can use the node anymore. Nothing is locked: objects go at any time.
        """
        place = op._attrs["shared_name"].decode()
        free = self._free_places.setdefault((op._attrs["dtype"], op._attrs["shape"]._dims), [])
        weakref.finalize(owner, engine_variable(self.core, op).clear)
        weakref.finalize(op, free.append, place)

    def state_of(self, op):
        """The state of what an operation declares, such as an iterator's position, as bytes; empty without one."""
        return self.core.op_states().get(op._name, b"")

    def restore_state(self, op, state):
        """Restores such a state. Raises tf.errors.FailedPreconditionError if it is not one of `op`."""
        try:
            self.core.restore_op_state(op._name, state)
        except _engine.EngineError as error:
            raise errors.FailedPreconditionError(None, None, f"{op._name}: {error}") from None

    def find(self, op_def, inputs, attrs, is_seeded_once=False):
        """The CompiledOp for inputs like these."""
        key = op_def.name, _attrs_key(attrs), tuple([_input_key(tensor) for tensor in inputs]), is_seeded_once
        handle = last_handle(inputs)
        if handle is not None:
            found = handle.compiled.get(key)
            if found is None:
                found = CompiledOp(self, self._eager_graph, op_def, inputs, attrs, self._name(op_def, key))
                found = handle.compiled.setdefault(key, found)
            return found
        with self._lock:
            found = self._by_key.get(key)
            if found is not None:
                self._by_key.move_to_end(key)
        if found is None:
            found = CompiledOp(self, self._eager_graph, op_def, inputs, attrs, self._name(op_def, key))
            with self._lock:
                found = self._by_key.setdefault(key, found)
                if len(self._by_key) > _MOST_COMPILED:
                    self._by_key.popitem(last=False)
        return found

    def run_once(self, op_def, inputs, attrs):
        """The values of a random op whose seeds have been drawn for this one call: no state is kept of it."""
        seeds = attrs["seed"], attrs["seed2"]
        compiled = self.find(op_def, inputs, {**attrs, "seed": 1, "seed2": 1}, is_seeded_once=True)
        with compiled.lock:
            self.core.set_random_state(compiled.name, seeds[0], 0, seeds[1])
            return compiled.run(inputs)

    def _name(self, op_def, key):
        if not op_def.is_stateful:
            return op_def.name
        digest = hashlib.blake2b(repr((self._generation, key)).encode(), digest_size=12).hexdigest()
        return f"{op_def.name}_{digest}"


def last_handle(inputs):
    """The operation that made the handle among `inputs`, the last one of several; None if there is none."""
    found = None
    for tensor in inputs:
        if tensor._value is None and (found is None or tensor._op.number > found.number):
            found = tensor._op
    return found


def _attrs_key(attrs):
    return tuple([distinct(value) for value in attrs.values()])


def distinct(value):
    """What an attribute is told by: equal only for the same value, also for -0.0 and 0.0."""
    if type(value) is float:
        return value.hex()
    if type(value) is list:
        return tuple(value)
    return value._dims if type(value) is TensorShape else value


def _input_key(tensor):
    return (tensor._op._name, tensor._value_index) if is_handle(tensor) else tensor._dtype


class _OneOpGraph(Graph):
    """The graph of a CompiledOp."""

    runs_one_op = True


class CompiledOp:
    """Placeholders for the inputs that have values, what declares the handles among them, and the op."""

    def __init__(self, compiled_ops, eager_graph, op_def, inputs, attrs, name):
        graph = _OneOpGraph()
        graph._functions = eager_graph._functions
        graph._py_functions = eager_graph._py_functions
        self.name = name
        self.lock = threading.Lock()  # of runs that set the op's state
        self._fed: list = []
        self._captured: list = []  # values that what the handles stand for is made of
        self._positions = [i for i, tensor in enumerate(inputs) if not is_handle(tensor)]
        with graph.as_default():
            placeholders = [None if is_handle(tensor) else self._placeholder(tensor) for tensor in inputs]
            copies: dict = {}
            nodes = [
                self._handle(graph, tensor, copies) if placeholder is None else placeholder
                for tensor, placeholder in zip(inputs, placeholders, strict=True)
            ]
            try:
                op = graph._add_node(op_def, nodes, attrs, f"{name}/")
            except ValueError as error:  # of what a graph would tell at once
                raise op_errors.of_kernel(op_def.name, error) from None
        self._has_strings = any(tensor._dtype is dtypes.string for tensor in op._outputs)
        self._plans = PlansByShape(
            graph, op._outputs, [] if op._outputs else [op], self._fed, compiled_ops.core, compiled_ops.kernels
        )

    def _placeholder(self, tensor):
        placeholder = ops.placeholder(tensor._dtype, name="input")
        self._fed.append(placeholder)
        return placeholder

    def _handle(self, graph, tensor, copies):
        """The tensor of `graph` that stands for the same thing as a handle."""
        source = tensor._op
        if source not in copies:
            inputs = []
            for below in source._inputs:
                if is_handle(below):
                    inputs.append(self._handle(graph, below, copies))
                else:
                    inputs.append(self._placeholder(below))
                    self._captured.append(below._value)
            copies[source] = graph._add_node(source._op_def, inputs, source._attrs, f"{source._name}/")
        return copies[source]._outputs[tensor._value_index]

    def run(self, inputs):
        """The values of the outputs, as arrays that nobody writes to. Raises tf.errors.OpError."""
        values = self._plans.run([inputs[i]._value for i in self._positions] + self._captured, shares=True)
        if self._has_strings:
            return [value if type(value) is np.ndarray else np.array(value, object) for value in values]
        return values
