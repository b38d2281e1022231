"""tf.contrib.constrained_optimization.ConstrainedMinimizationProblem."""

from __future__ import annotations

import abc

from stillflow.names import public


@public("contrib.constrained_optimization.ConstrainedMinimizationProblem")
class ConstrainedMinimizationProblem(abc.ABC):
    """An objective, to be minimized, and constraints: functions that are to be at most 0.

    If constraints cannot be differentiated, as where they count, proxies take their place: functions like them with
    useful gradients. Constraints are then evaluated alone.
    """

    @property
    @abc.abstractmethod
    def objective(self):
        """What is minimized, a scalar."""

    @property
    @abc.abstractmethod
    def constraints(self):
        """A tensor whose elements are to be at most 0."""

    @property
    def num_constraints(self):
        """How many constraints there are. Raises ValueError if shapes are not known, or proxies have another."""
        proxies = self.proxy_constraints
        shapes = [self.constraints.shape, (self.constraints if proxies is None else proxies).shape]
        if not all(shape.is_fully_defined() for shape in shapes):
            raise ValueError("constraints and proxy_constraints must have fully-known shapes")
        if shapes[0].as_list() != shapes[1].as_list():
            raise ValueError("constraints and proxy_constraints must have the same shape")
        return int(shapes[0].num_elements())

    @property
    def proxy_constraints(self):
        """A tensor that is differentiated instead of the constraints, or None."""
        return None

    @property
    def pre_train_ops(self):
        """Operations that run before each step, or None."""
        return None
