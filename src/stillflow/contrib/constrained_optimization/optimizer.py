"""Optimizers of constrained problems: a game of the model against who weighs objective and constraints."""

from __future__ import annotations

import abc
import contextlib

from stillflow import ops
from stillflow.graph.contexts import colocate_with, control_dependencies
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.convert import convert_to_tensor
from stillflow.training.optimizer import Optimizer
from stillflow.variables.assignments import assign_add
from stillflow.variables.variable import Variable


@public("contrib.constrained_optimization.ConstrainedOptimizer")
class ConstrainedOptimizer(abc.ABC):
    """Minimizes ConstrainedMinimizationProblems by a tf.train.Optimizer.

    The methods' arguments are those of tf.train.Optimizer.minimize, but for the problem in the place of a loss.

    Args:
      optimizer: the optimizer.
    """

    def __init__(self, optimizer):
        self._optimizer = optimizer

    @property
    def optimizer(self):
        """The optimizer of the model."""
        return self._optimizer

    @abc.abstractmethod
    def _minimize_constrained(self, minimization_problem, global_step, name, **options):
        """The operation of a step, without `pre_train_ops`. `options` are for `Optimizer.compute_gradients`."""

    def minimize_constrained(
        self, minimization_problem, global_step=None, var_list=None, gate_gradients=Optimizer.GATE_OP,
        aggregation_method=None, colocate_gradients_with_ops=False, name=None, grad_loss=None,
    ):  # fmt: skip
        """The operation of a step towards a small objective where the constraints are at most 0."""
        with _after(minimization_problem.pre_train_ops):
            return self._minimize_constrained(
                minimization_problem,
                global_step=global_step,
                var_list=var_list,
                gate_gradients=gate_gradients,
                aggregation_method=aggregation_method,
                colocate_gradients_with_ops=colocate_gradients_with_ops,
                name=name,
                grad_loss=grad_loss,
            )

    def minimize_unconstrained(
        self, minimization_problem, global_step=None, var_list=None, gate_gradients=Optimizer.GATE_OP,
        aggregation_method=None, colocate_gradients_with_ops=False, name=None, grad_loss=None,
    ):  # fmt: skip
        """The operation of a step towards a small objective alone."""
        with _after(minimization_problem.pre_train_ops):
            return self.optimizer.minimize(
                minimization_problem.objective,
                global_step=global_step,
                var_list=var_list,
                gate_gradients=gate_gradients,
                aggregation_method=aggregation_method,
                colocate_gradients_with_ops=colocate_gradients_with_ops,
                name=name,
                grad_loss=grad_loss,
            )

    def minimize(
        self, minimization_problem, unconstrained_steps=None, global_step=None, var_list=None,
        gate_gradients=Optimizer.GATE_OP, aggregation_method=None, colocate_gradients_with_ops=False, name=None,
        grad_loss=None,
    ):  # fmt: skip
        """The operation of a step as of `minimize_constrained`; the first `unconstrained_steps` are unconstrained.

        Raises ValueError for unconstrained steps without a global step.
        """
        options = {
            "global_step": global_step, "var_list": var_list, "gate_gradients": gate_gradients,
            "aggregation_method": aggregation_method, "colocate_gradients_with_ops": colocate_gradients_with_ops,
            "name": name, "grad_loss": grad_loss,
        }  # fmt: skip
        if unconstrained_steps is None:
            return self.minimize_constrained(minimization_problem, **options)
        if global_step is None:
            raise ValueError("global_step cannot be None if unconstrained_steps is provided")
        limit = convert_to_tensor(unconstrained_steps)
        return cond(
            ops.cast(global_step, limit.dtype) < limit,
            lambda: self.minimize_unconstrained(minimization_problem, **options),
            lambda: self.minimize_constrained(minimization_problem, **options),
        )


def _after(operations):
    return control_dependencies(operations) if operations else contextlib.nullcontext()


class GameOptimizer(ConstrainedOptimizer):
    """A game: the model minimizes a weighted sum of objective and constraints, the other player maximizes by weights.

    Args:
      optimizer: the optimizer of the model, and of the weights if there is no other.
      constraint_optimizer: the optimizer of the weights.
    """

    state_name: str

    def __init__(self, optimizer, constraint_optimizer=None):
        super().__init__(optimizer)
        self._constraint_optimizer = constraint_optimizer

    @property
    def constraint_optimizer(self):
        """The optimizer of the weights, or None for that of the model."""
        return self._constraint_optimizer

    @abc.abstractmethod
    def _initial_state(self, num_constraints):
        """The first value of the variable of weights."""

    @abc.abstractmethod
    def _loss_and_gain(self, state, objective, constraints, proxies):
        """(the weighted sum for the model, its gradient with respect to the state if constraints are no proxies)."""

    @abc.abstractmethod
    def _projected(self, state):
        """The state's value, changed as little as makes it one that is allowed."""

    def _constraint_grad_and_var(self, state, gradient):
        return -gradient, state

    def _projection_op(self, state, name=None):
        with colocate_with(state):
            return state.assign(self._projected(state), name=name)

    def _minimize_constrained(self, minimization_problem, global_step=None, name=None, **options):
        """Raises ValueError if the objective and the constraints are of different types."""
        objective = minimization_problem.objective
        constraints = minimization_problem.constraints
        proxies = minimization_problem.proxy_constraints
        proxies = constraints if proxies is None else proxies
        if len({tensor.dtype.base_dtype for tensor in (objective, constraints, proxies)}) > 1:
            raise ValueError("objective, constraints and proxy_constraints must have the same dtype")
        count = minimization_problem.num_constraints
        constraints, proxies = ops.reshape(constraints, (count,)), ops.reshape(proxies, (count,))
        # By a function, so that the initializer waits for nothing that a step waits for.
        state = Variable(lambda: self._initial_state(count), trainable=False, name=self.state_name)
        loss, gain = self._loss_and_gain(state, objective, constraints, proxies)
        grads_and_vars = self.optimizer.compute_gradients(loss, **options)
        with control_dependencies(self._updates(grads_and_vars, [self._constraint_grad_and_var(state, gain)])):
            if global_step is None:
                return self._projection_op(state, name=name)
            projection = self._projection_op(state, name="project")
            with colocate_with(global_step):
                step = assign_add(global_step, 1, name="global_step_increment")
            return group(projection, step, name=name)

    def _updates(self, of_model, of_state):
        if self.constraint_optimizer is None:
            return [self.optimizer.apply_gradients(of_model + of_state, name="update")]
        gradients = [gradient for gradient, _ in of_model + of_state if gradient is not None]
        with control_dependencies(gradients):
            return [
                self.optimizer.apply_gradients(of_model, name="update"),
                self.constraint_optimizer.apply_gradients(of_state, name="optimizer_state_update"),
            ]
