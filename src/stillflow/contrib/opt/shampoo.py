"""ShampooOptimizer: gradients times roots of their covariances along each dimension."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.linear_algebra import tensordot
from stillflow.contrib.opt.matrix_roots import matrix_inverse_pth_root, matrix_square_root
from stillflow.contrib.opt.rows import scatter_add
from stillflow.graph import dtypes
from stillflow.graph.contexts import colocate_with
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.convert import convert_to_tensor
from stillflow.training.optimizer import Optimizer
from stillflow.training_loop.messages import log
from stillflow.variables.assignments import assign, assign_add, assign_sub


def _at(parameter, step):
    """A parameter at a step: it may be a function of that."""
    return parameter(step) if callable(parameter) else parameter


@public("contrib.opt.ShampooOptimizer")
class ShampooOptimizer(Optimizer):
    """The algorithm of Gupta, Koren and Singer, "Shampoo: Preconditioned stochastic tensor optimization", 2018.

        gbar = gbar_decay * gbar + gbar_weight * gradient
        G_i = mat_gbar_decay * G_i + mat_gbar_weight * (gradient times itself along all dimensions but i)
        variable -= learning_rate * gbar x G_1 ** (-alpha / n) x ... x G_n ** (-alpha / n)

    for a variable of n dimensions; of a dimension of more than max_matrix_size only the diagonal of G_i is kept.

    Args:
      global_step: a tensor, or a number.
      max_matrix_size: see above.
      gbar_decay, gbar_weight, mat_gbar_decay, mat_gbar_weight, learning_rate, alpha: numbers, or functions of the
        step after.
      svd_interval: every how many steps the roots are computed anew.
      precond_update_interval: every how many steps G_i changes.
      epsilon: what is added to the diagonal for the roots.
      use_iterative_root: whether the roots are found by iterations, not by singular values.
      use_locking: accepted for compatibility; updates are always atomic.
      name: a name of the operations.
    """

    def __init__(
        self,
        global_step=0,
        max_matrix_size=768,
        gbar_decay=0.0,
        gbar_weight=1.0,
        mat_gbar_decay=1.0,
        mat_gbar_weight=1.0,
        learning_rate=1.0,
        svd_interval=1,
        precond_update_interval=1,
        epsilon=1e-4,
        alpha=0.5,
        use_iterative_root=False,
        use_locking=False,
        name="Shampoo",
    ):
        super().__init__(use_locking, name)
        self._global_step = ops.cast(global_step, dtypes.float32)
        self._max_matrix_size = max_matrix_size
        self._gbar_decay, self._gbar_weight = gbar_decay, gbar_weight
        self._mat_gbar_decay, self._mat_gbar_weight = mat_gbar_decay, mat_gbar_weight
        self._learning_rate, self._alpha = learning_rate, alpha
        self._svd_interval, self._precond_update_interval = svd_interval, precond_update_interval
        self._epsilon = epsilon
        self._use_iterative_root = use_iterative_root

    def _create_slots(self, var_list):
        for v in var_list:
            with colocate_with(v):
                self._zeros_slot(v, "gbar", self._name)
                for i, size in enumerate(v.shape.as_list()):
                    count = convert_to_tensor(size, name="shape_as_tensor")
                    if size <= self._max_matrix_size:
                        first = ops.zeros_like(ops.eye(count))
                        if _at(self._svd_interval, 0) > 1:
                            self._get_or_make_slot(v, ops.eye(count), f"H_{i}", self._name)
                    else:
                        first = ops.zeros([count])
                    self._get_or_make_slot(v, first, f"Gbar_{i}", self._name)

    def _resource_apply_dense(self, grad, var):
        return self._apply_gradient(grad, var)

    def _apply_dense(self, grad, var):
        return self._apply_gradient(grad, var)

    def _resource_apply_sparse(self, grad, var, indices):
        return self._apply_rows(grad, indices, var)

    def _apply_sparse(self, grad, var):
        return self._apply_rows(grad.values, grad.indices, var)

    def _apply_rows(self, values, indices, var):
        if var.shape.as_list()[0] <= self._max_matrix_size or self._gbar_decay != 0.0:
            shape = ops.shape(var, out_type=indices.dtype)
            return self._apply_gradient(ops.scatter_nd(ops.expand_dims(indices, axis=1), values, shape), var)
        return self._apply_gradient(values, var, indices)

    @staticmethod
    def _averaged(var, decay, decay_now, change):
        """decay var + change, assigned unless nothing of the old remains."""
        if decay == 0.0:
            return change
        if decay == 1.0:
            return assign_add(var, change)
        return var.assign_add((decay_now - 1) * var + change)

    def _power(self, var, matrix, size, exponent, slot=None):
        """A symmetric matrix to a power, kept in a slot if one is named."""
        with name_scope("matrix_iterative_power"):
            if self._use_iterative_root:
                root = matrix_square_root(matrix, size, 100, self._epsilon)
                found = matrix_inverse_pth_root(root, size, 2 * exponent, 100, 1e-6, ridge_epsilon=0.0)
            elif size == 1:
                found = ops.pow(matrix + self._epsilon, exponent)
            else:
                damping = self._epsilon * ops.eye(ops.cast(size, dtypes.int32))
                values, u, v = ops.svd(matrix + damping, full_matrices=True)
                scaled = v * ops.pow(ops.maximum(values, self._epsilon), exponent)
                found = ops.matmul(scaled, ops.transpose(u))
            return found if slot is None else assign(self.get_slot(var, slot), found)

    def _apply_gradient(self, grad, var, indices=None):
        step = self._global_step + 1
        if indices is not None:
            if self._gbar_decay != 0.0:
                log().warning("Not applying momentum for variable: %s", var.name)
            update = grad
        else:
            change = _at(self._gbar_weight, step) * grad
            update = self._averaged(self.get_slot(var, "gbar"), self._gbar_decay, _at(self._gbar_decay, step), change)
        sizes = var.shape.as_list()
        exponent = -_at(self._alpha, step) / len(sizes)
        for i, size in enumerate(sizes):
            if size <= self._max_matrix_size:
                matrix = self._matrix(var, grad, i, size, step, exponent)
                update = tensordot(update, matrix, axes=([0], [0]), name=f"precond_{i}")
            else:
                factor = self._diagonal(var, grad, i, size, step, exponent, indices)
                update = ops.transpose(update, perm=[*range(1, len(sizes)), 0]) * factor
        rate = _at(self._learning_rate, step)
        if indices is not None:
            return scatter_add(var, indices, -rate * update)
        return assign_sub(var, rate * update)

    def _matrix(self, var, grad, i, size, step, exponent):
        """The root of the covariance along dimension i, after the gradient was added to it."""
        average = self.get_slot(var, f"Gbar_{i}")
        axes = [axis for axis in range(var.shape.ndims) if axis != i]
        interval = _at(self._precond_update_interval, step)

        def updated():
            outer = tensordot(grad, grad, axes=(axes, axes), name=f"grad_outer_{i}")
            weight = _at(self._mat_gbar_weight, step) * interval
            return self._averaged(average, self._mat_gbar_decay, _at(self._mat_gbar_decay, step), weight * outer)

        covariance = cond(ops.floor_mod(step, interval) < 1, updated, lambda: average) / float(size)
        if self._svd_interval == 1:
            return self._power(var, covariance, size, exponent)
        slot = f"H_{i}"
        return cond(
            ops.floor_mod(step, _at(self._svd_interval, step)) < 1,
            lambda: self._power(var, covariance, size, exponent, slot),
            lambda: self.get_slot(var, slot),
        )

    def _diagonal(self, var, grad, i, size, step, exponent, indices):
        """The root of the diagonal of the covariance along dimension i, of the rows of indices if there are some."""
        average = self.get_slot(var, f"Gbar_{i}")
        axes = [axis for axis in range(var.shape.ndims) if axis != i]
        squares = grad * grad
        if axes:
            squares = ops.reduce_sum(squares, axis=axes) / (1.0 if indices is not None else float(size))
        change = _at(self._mat_gbar_weight, step) * squares
        if i == 0 and indices is not None:
            if self._mat_gbar_decay != 1.0:
                raise AssertionError("mat_gbar_decay must be 1 for sparse gradients")
            values = ops.gather(scatter_add(average, indices, change), indices)
        else:
            values = self._averaged(average, self._mat_gbar_decay, _at(self._mat_gbar_decay, step), change)
        return ops.where(ops.greater(values, 0), ops.pow(values, exponent), ops.zeros_like(values))
