"""From a graph to an instruction list: `compile_plan` runs the passes from top to bottom."""

from __future__ import annotations

import functools

from stillflow import _engine, errors
from stillflow.plan.branches import settle
from stillflow.plan.drop import drop
from stillflow.plan.emit import emit
from stillflow.plan.fold import fold
from stillflow.plan.functions import body_of, check_results, known_arguments
from stillflow.plan.fusions import fuse, lower_elementwise
from stillflow.plan.lift import lift
from stillflow.plan.listing import listing
from stillflow.plan.merge import merge
from stillflow.plan.placement import ONE_CPU, check_devices
from stillflow.plan.prune import needed_operations
from stillflow.plan.simplify import simplify
from stillflow.plan.uniform import spread
from stillflow.plan.verify import verify

__all__ = ["CompiledPlan", "compile_plan", "listing"]


class CompiledPlan:
    """A program of the engine, and which operations its steps stand for. Runs raise tf.errors.OpError."""

    def __init__(self, program, plan, operations):
        self.program = program
        self.operations = operations
        # Those outside of branches, which have their values before the first step.
        self.constants = [
            op for op in operations if op._op_def.special == "constant" and op._control_flow_context is None
        ]
        self.parts = [node.parts for node in plan.nodes]
        self.text = listing(plan)
        self.labels = [(node.type, node.inputs, node.outputs) for node in plan.nodes]
        program.explain = functools.partial(_failure, self.parts)


def _failure(parts, code, message, step, part):
    """The exception for what the engine says of a failure; `parts` are the operations of each step."""
    operations = parts[step] if 0 <= step < len(parts) else (None,)
    return errors.make(code, message, operations[part if part < len(operations) else 0])


def compile_plan(
    fetches, targets, feeds, feed_dims, session_core, kernels, make_feeds, done=(), devices=ONE_CPU, watch=None
) -> CompiledPlan:
    """Compiles what computes `fetches` (tensors) and runs `targets` (operations).

    Args:
      feeds: the tensors whose values the caller brings.
      feed_dims: their plain shapes, as far as this plan may rely on them.
      session_core: the _engine.Session that keeps the variables.
      kernels: the _engine.Kernels to use.
      make_feeds: a function that returns the _engine.Feed objects for `feeds`.
      done: operations that have run already, for a plan that goes on where another stopped; their values are fed.
      devices: what operations may be assigned to.
      watch: says which tensors a debugger wants to see: see plan.watch.
    """
    operations = needed_operations(fetches, targets, feeds, done)
    check_devices(operations, devices)
    plan = lift(operations, feeds, fetches, targets, feed_dims, done, watch=watch)

    compiler = _Compiler(session_core, kernels, devices)
    compiler.optimize(plan)
    program = emit(plan, session_core, kernels, make_feeds(), compiler.function)
    return CompiledPlan(program, plan, operations)


class _Compiler:
    """What plans, and those of the functions that they call, are compiled with."""

    def __init__(self, session_core, kernels, devices):
        self._session_core = session_core
        self._kernels = kernels
        self._devices = devices
        self._under_way: list = []  # names of functions

    def optimize(self, plan):
        def reduce(part):
            _reduce(part, self._evaluate)

        reduce(plan)
        fuse(plan, reduce)
        lower_elementwise(plan)

    def _evaluate(self, part):
        lower_elementwise(part)
        try:
            return emit(part, self._session_core, self._kernels, [], self.function).run(())
        except (_engine.EngineError, errors.OpError):
            return None

    def function(self, node, called):
        """The _engine.Function of an attribute that is one. Raises OpError if it is unknown or cannot be compiled."""
        name = (called.call or node.attrs[called.name]).name
        body = body_of(node.op, name)
        if name in self._under_way:
            raise errors.make(errors.UNIMPLEMENTED, f"Function {name} calls itself", node.op)
        self._under_way.append(name)
        try:
            operations = needed_operations(body.outputs, body.always_run(), body.inputs)
            check_devices(operations, self._devices)
            dims = [tensor._dims for tensor in body.inputs]
            arguments = known_arguments(node, called, body)
            plan = lift(operations, body.inputs, body.outputs, body.always_run(), dims, arguments=arguments)
            check_results(node, body, plan)
            is_stateful = not all(current.is_pure or current.type == "_Read" for current in plan.nodes)
            self.optimize(plan)
            program = emit(plan, self._session_core, self._kernels, [], self.function, is_body=True)
        finally:
            self._under_way.pop()
        inputs = [
            _engine.Function.VARIABLE if value.is_reference else value.dtype.as_datatype_enum
            for value in plan.feed_values
        ]
        outputs = [tensor._dtype.as_datatype_enum for tensor in body.outputs]
        return _engine.Function(program, name, is_stateful, inputs, outputs)


def _reduce(plan, evaluate):
    """Brings a plan to the form in which fusions look for their patterns: equal programs have equal forms."""

    def run(*passes):
        for each in passes:
            each(plan, evaluate) if each in (spread, fold) else each(plan)
            verify(plan, each.__name__)

    verify(plan, "lift")
    run(drop, simplify, merge, spread, fold, spread)
    if plan.is_guarded and settle(plan):
        verify(plan, "settle")
        _reduce(plan, evaluate)  # more is known now
        return
    run(simplify, merge, drop)
