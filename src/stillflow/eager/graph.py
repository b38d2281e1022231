"""EagerGraph: the default graph of eager execution. Ops run when they are called and add no node."""

from __future__ import annotations

import contextlib
import itertools
import random
import weakref
from typing import Any

from stillflow.eager import versions  # noqa: F401
from stillflow.eager.calls import Calls
from stillflow.eager.compiled_ops import CompiledOps, is_handle
from stillflow.eager.operation import DeclaredOperation, ExecutedOperation
from stillflow.eager.tensor import EagerTensor
from stillflow.graph import dtypes, recording
from stillflow.graph.graph import Graph
from stillflow.graph.mode import EAGER_VERSIONS, eager_version_of
from stillflow.graph.op_def import OpDef
from stillflow.graph.scopes import DefaultGraphs
from stillflow.graph.shape_inference import infer_shapes
from stillflow.ops.registry import Alias
from stillflow.random.seeds import automatic_seed

# What TensorFlow draws the seeds of operations from.
_LARGEST_SEED = 2**31 - 1


class _Scope:
    """A name scope. Names are put together, not made unique: nothing is found by them."""

    __slots__ = ("_graph", "_name", "_previous")

    def __init__(self, graph, name):
        self._graph = graph
        self._name = name

    def __enter__(self):
        graph, name = self._graph, self._name
        self._previous = previous = graph._name_stack
        if isinstance(name, bytes):
            name = name.decode()
        if not name:
            scope = ""
        elif name == "/":
            scope = name
        elif name.endswith("/"):
            scope = name[:-1]
        else:
            scope = f"{previous}/{name}" if previous else name
        graph._name_stack = scope
        return f"{scope}/" if scope and name != "/" else scope

    def __exit__(self, *exception):
        self._graph._name_stack = self._previous


class EagerGraph(Graph):
    """The default graph while operations are executed eagerly. It has no nodes.

    `source` stands for the operation of all tensors that have values.
    """

    executes_eagerly = True
    takes_any_input = True
    scopes_need_names = False

    def __init__(self, threads=0):
        super().__init__()
        self.switch_to_thread_local()  # each thread executes operations where its own scopes say
        self.source = ExecutedOperation(self, OpDef("EagerTensor", (), (), {}), "EagerTensor", [], {}, [])
        self.compiled = CompiledOps(self, threads)
        self._calls = Calls(self)
        self.repeat_call = self._calls.repeat
        self._functions: Any = weakref.WeakValueDictionary()  # they live as long as what calls them
        self._numbers = itertools.count()
        self._seeds = random.Random()
        self._drawn: int | None = None  # the newest seed that was drawn, until an op has used it

        DefaultGraphs.all_eager.add(self)

    def forget(self):
        """Forgets what TensorFlow keeps in the graph of nodes: collections, variable scopes, names of layers."""
        self._collections = {}
        for key in ("_variable_scopes", "_layer_name_counts"):
            self.__dict__.pop(key, None)

    def version_of(self, item):
        return EAGER_VERSIONS.get(item, item)

    def require_nodes(self, reason, error=RuntimeError):
        raise error(reason)

    def require_values(self, reason, error=RuntimeError):
        pass

    def py_functions_of_bodies(self):
        return []  # what a function calls lives as long as that function

    # ---- Operations -----------------------------------------------------------------------------------------

    def _add_node(self, op_def, inputs, attrs, name):
        """Runs an op. What only says where something is, such as a variable, is declared: what uses it runs it."""
        for tensor in inputs:
            graph = tensor._op._graph
            if graph is not self:
                if graph.serves_eager_execution:
                    with graph.as_default():
                        return graph._add_node(op_def, inputs, attrs, name.rstrip("/"))
                raise TypeError(
                    'An op outside of the function building code is being passed a "Graph" tensor. It is possible to '
                    "have Graph tensors leak out of the function building context by including a tf.init_scope in "
                    f"your function building code. The graph tensor has name: {tensor.name}"
                )
        types = op_def.output_dtypes(attrs)
        if dtypes.resource in types:
            op = self._declare(op_def, inputs, attrs, name)
        else:
            is_seeded_once = self._takes_drawn_seed(op_def, attrs)
            run = self.compiled.run_once if is_seeded_once else self._values
            values = run(op_def, inputs, attrs)
            outputs = [EagerTensor(self, value, dtype) for value, dtype in zip(values, types, strict=True)]
            op = ExecutedOperation(self, op_def, name, inputs, attrs, outputs)
            op.is_seeded_once = is_seeded_once
        recording.record(op)
        return op

    def note_call(self, op, arguments):
        """Remembers how an op was called, if it has run: `repeat_call` runs it again without checks."""
        if type(op) is ExecutedOperation and op._inputs and not op.is_seeded_once:
            self._calls.note(op, self._runner(op._op_def, op._inputs, op._attrs), arguments)

    def _declare(self, op_def, inputs, attrs, name):
        number = next(self._numbers)
        op = DeclaredOperation(self, op_def, f"{name.rstrip('/')}_{number}", number, inputs, attrs)
        infer_shapes(op)
        return op

    def _takes_drawn_seed(self, op_def, attrs):
        """Whether an op has seeds that no other call will have."""
        if self._drawn is None or attrs.get("seed2") != self._drawn % _LARGEST_SEED:
            return False
        self._drawn = None
        return getattr(op_def.lowering, "state", None) == "random"

    def _values(self, op_def, inputs, attrs):
        if not inputs and "value" in attrs and op_def.constant_value is not None:
            return [attrs["value"].array()]
        return self._runner(op_def, inputs, attrs)(inputs)

    def _runner(self, op_def, inputs, attrs):
        """A function from inputs like these to the values of the outputs."""
        if type(op_def.lowering) is Alias and not is_handle(inputs[op_def.lowering.input]):
            position = op_def.lowering.input
            return lambda inputs: [inputs[position]._value]
        return self.compiled.find(op_def, inputs, attrs).run

    def free_with(self, owner, handle, kind):
        """Frees the resource of that kind that a handle stands for when the object `owner` goes."""
        op = handle._op
        if op._attrs.get("shared_name") == b"":
            op._attrs["shared_name"] = op._name.encode()  # the engine finds it by that
        weakref.finalize(owner, self._free, op, kind)

    def _free(self, op, kind):
        op.forget_uses()
        self.compiled.core.forget_resource(kind, op._attrs.get("shared_name", op._name.encode()).decode())

    # ---- Seeds ----------------------------------------------------------------------------------------------

    @property
    def seed(self):
        """The global seed, or None. Setting it starts all random operations anew."""
        return self._seed

    @seed.setter
    def seed(self, seed):
        self._seed = seed
        self._seeds = random.Random(seed)
        self.compiled.start_anew()
        self._calls.forget()

    @eager_version_of(automatic_seed)
    def draw_seed(self):
        """The seed of an operation that has none of its own."""
        self._drawn = self._seeds.randint(0, _LARGEST_SEED)
        return self._drawn

    # ---- Scopes ---------------------------------------------------------------------------------------------

    def name_scope(self, name):
        return _Scope(self, name)

    def unique_name(self, name, mark_as_used=True):
        return f"{self._name_stack}/{name}" if self._name_stack else name

    def control_dependencies(self, control_inputs):
        """A context that does nothing: what was called before has run. Functions among the inputs are called."""
        for item in control_inputs or ():
            if callable(item):
                item()
        return contextlib.nullcontext()

    def device(self, device_name_or_function):
        """A context that does nothing: there is one device. Raises RuntimeError for a function."""
        if callable(device_name_or_function):
            raise RuntimeError("tf.device does not support functions when eager execution is enabled.")
        return super().device(device_name_or_function)

    def devices_of(self, device_stack):
        """A context that does nothing."""
        return contextlib.nullcontext()

    def colocate_with(self, op, ignore_existing=False):
        """A context that does nothing."""
        return contextlib.nullcontext()
