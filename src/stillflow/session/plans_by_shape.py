"""PlansByShape: the plans of one set of fetches and feeds. A plan may rely on the shapes of what is fed."""

from __future__ import annotations

import threading

from stillflow import _engine
from stillflow.plan import compile_plan
from stillflow.plan.placement import ONE_CPU
from stillflow.session import feeds

# After so many different shapes there is one plan for the rest.
_MOST_PLANS = 4


class PlansByShape(_engine.Programs):
    """Computes `tensors` and runs `targets` from values of the tensors `fed`, all of one graph.

    `run` takes those values as a list, and is code of the engine: it is on the way of every step.

    Plans are compiled when they are first needed, for the engine session `core` and the kernel library `kernels`.
    `watch` says which tensors a debugger wants to see: see stillflow.plan.watch.
    """

    def __init__(self, graph, tensors, targets, fed, core, kernels, devices=ONE_CPU, watch=None):
        super().__init__()
        self._graph = graph
        self._tensors = tensors
        self._targets = targets
        self._fed = fed
        self._core = core
        self._kernels = kernels
        self._devices = devices
        self._watch = watch
        self.plans: list = []
        self._lock = threading.Lock()

    def run_traced(self, values, timeout_nanos, trace):
        """(plan, results) of a run whose steps' times are added to the list `trace`, unless it is None."""
        for plan in self.plans:
            results = plan.program.run(values, timeout_nanos, trace)
            if results is not None:
                return plan, results
        plan = self._plan_for(values)
        return plan, plan.program.run(values, timeout_nanos, trace)

    def program_for(self, values):
        """Of a new plan, where there is none yet for the shapes of the list `values`."""
        return self._plan_for(values).program

    def _plan_for(self, values):
        with self._lock:
            arrays = [feeds.convert(tensor, value) for tensor, value in zip(self._fed, values, strict=True)]
            is_general = len(self.plans) >= _MOST_PLANS
            dims = [t._dims if is_general else array.shape for t, array in zip(self._fed, arrays, strict=True)]
            plan = self._compile(dims)
            self.plans = [plan] if is_general else [*self.plans, plan]
            self.programs = [plan.program for plan in self.plans]
            return plan

    def _compile(self, dims):
        with self._graph._lock:
            return compile_plan(
                self._tensors, self._targets, self._fed, dims, self._core, self._kernels,
                lambda: [feeds.make_feed(tensor, d) for tensor, d in zip(self._fed, dims, strict=True)],
                devices=self._devices, watch=self._watch,
            )  # fmt: skip
