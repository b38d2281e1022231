"""GGTOptimizer: steps by the inverse root of the covariance of the last gradients, of all variables together."""

from __future__ import annotations

import math
from typing import Any

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.convert import convert_to_tensor
from stillflow.training.optimizer import Optimizer
from stillflow.variables.assignments import assign_add, assign_sub, scatter_update


@public("contrib.opt.GGTOptimizer")
class GGTOptimizer(Optimizer):
    """The algorithm of Agarwal and others, "The case for full-matrix adaptive regularization", 2018.

    All gradients are one vector. With M the last `window` moving averages of it as columns, over
    sqrt(min(step, window)), and U diag(s) U' the decomposition of M'M + svd_eps I, a step is

        h = M U diag((sqrt(s) + sigma_eps)**-3) U'M' m
        variables -= learning_rate * (h + (m - M U diag(1 / s) U'M' m) / min(sqrt(s)))

    without the second summand where min(sqrt(s)) is at most eps; m is the newest moving average.

    Args:
      learning_rate: a number.
      beta1: the decay of the moving average.
      use_locking: accepted for compatibility; updates are always atomic.
      name: a name of the operations.
      window: how many moving averages to keep.
      eps, svd_eps, sigma_eps: see above.

    Gradients have to be dense.
    """

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        use_locking=False,
        name="GGT",
        window=10,
        eps=1e-4,
        svd_eps=1e-6,
        sigma_eps=1e-2,
    ):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._beta1 = beta1
        self._window = window
        self._eps = eps
        self._svd_eps = svd_eps
        self._sigma_eps = sigma_eps
        self.index_dict: dict = {}  # name of a variable -> where its gradient begins in the vector
        self.shape_dict: dict = {}  # name of a variable -> how many elements it has
        self._state: dict[str, Any] = {}
        self._variables: list = []

    def _create_slots(self, var_list):
        sizes = {variable.name: math.prod(variable.get_shape().as_list()) for variable in var_list}
        self.shape_dict = dict(sorted(sizes.items()))
        total = 0
        for name, size in self.shape_dict.items():
            self.index_dict[name] = total
            total += size
        dtype = var_list[0].dtype.base_dtype
        first = min(var_list, key=lambda variable: variable.name)
        for name, shape in {
            "global_step": (), "grad_buffer": (self._window, total), "moment1": (total,), "flat_grad": (total,)
        }.items():  # fmt: skip
            self._state[name] = self._create_non_slot_variable(ops.zeros(shape, dtype), name, first)

    def _get_moment1(self):
        return self._state["moment1"]

    def _get_grad_buffer(self):
        return self._state["grad_buffer"]

    def _get_flat_grad(self):
        return self._state["flat_grad"]

    def _prepare(self):
        self._variables = []

    def _place(self, variable):
        """(where the gradient of a variable begins in the vector, where it ends)."""
        begin = self.index_dict[variable.name]
        return begin, begin + self.shape_dict[variable.name]

    def _apply_dense(self, grad, var):
        self._variables.append(var)
        return scatter_update(self._get_flat_grad(), ops.range(*self._place(var)), ops.reshape(grad, [-1]))

    def _resource_apply_dense(self, grad, handle):
        return self._apply_dense(grad, handle)

    def _apply_sparse_duplicate_indices(self, grad, var):
        raise NotImplementedError("Sparse gradient updates are not supported.")

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
        raise NotImplementedError("Sparse gradient updates are not supported.")

    def _finish(self, update_ops, name_scope):
        with control_dependencies(update_ops):
            step = self._step()
            rate = ops.cast(self._hyperparameter(self._learning_rate, "learning_rate"), step.dtype)
            changes = []
            for variable in self._variables:
                begin, end = self._place(variable)
                change = ops.reshape(step[begin:end], variable.get_shape())
                changes.append(assign_sub(variable, rate * change))
        return group(*changes, name=name_scope)

    def _step(self):
        """The change of all variables for a learning rate of 1, a column; updates what is kept of the gradients."""
        moment, history = self._get_moment1(), self._get_grad_buffer()
        dtype = moment.dtype.base_dtype
        count = assign_add(self._state["global_step"], 1.0)
        gradient = self._get_flat_grad().read_value()
        newest = moment.assign(self._beta1 * moment.read_value() + (1.0 - self._beta1) * gradient)
        row = ops.floor_mod(ops.cast(count - 1.0, dtypes.int32), self._window)
        rows = scatter_update(history, row, newest)
        shown = ops.sqrt(ops.minimum(convert_to_tensor(count), ops.constant(self._window, dtype)))
        columns = ops.transpose(ops.truediv(rows, shown))
        newest = ops.expand_dims(newest, -1)
        covariance = ops.matmul(columns, columns, transpose_a=True)
        values, vectors, _ = ops.svd(covariance + ops.eye(self._window, dtype=dtype) * self._svd_eps)
        roots = ops.sqrt(values)
        smallest = ops.reduce_min(roots)

        def scaled(factors):
            inner = ops.matmul(vectors, ops.matmul(columns, newest, transpose_a=True), transpose_a=True)
            return ops.matmul(columns, ops.matmul(vectors, ops.matmul(ops.diag(factors), inner)))

        step = scaled(1.0 / ops.pow(roots + self._sigma_eps, 3))
        rest = (newest - scaled(1.0 / values)) / smallest
        return cond(smallest > self._eps, lambda: step + rest, lambda: ops.identity(step))
