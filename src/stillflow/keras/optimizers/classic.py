"""The optimizers that Keras had before those of tf.keras.optimizers: tensorflow.python.keras.optimizers.

They add to the graph what changes variables, and serve models of graphs only.
"""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.composites.clip import clip_by_norm, clip_by_value
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.keras.backend.arithmetic import sqrt
from stillflow.keras.backend.running import gradients
from stillflow.keras.backend.values import (
    batch_get_value,
    batch_set_value,
    dtype,
    get_value,
    int_shape,
    variable,
    zeros,
)
from stillflow.layers.core.settings import epsilon as default_epsilon
from stillflow.layers.core.settings import floatx
from stillflow.names import public
from stillflow.variables.assignments import assign, assign_add


@public("python.keras.optimizers.Optimizer")
class Optimizer:
    """Base of optimizers.

    Args:
      clipnorm: the greatest norm of a gradient.
      clipvalue: the greatest absolute value in a gradient.

    Attributes:
      weights: the variables of the optimizer, once it has changed some.
      updates: the operations that change variables.

    Raises:
      TypeError: for other arguments.
      ValueError: for a negative one.
    """

    _variables: tuple = ()  # names of those that __init__ makes, in order; "iterations" counts the steps
    _constants: tuple = ()  # names of what else the config has
    lr: Any
    iterations: Any
    decay: Any
    momentum: Any
    rho: Any
    epsilon: Any
    beta_1: Any
    beta_2: Any
    m_schedule: Any
    nesterov: bool
    amsgrad: bool
    schedule_decay: float

    def __init__(self, **kwargs):
        for name, value in kwargs.items():
            if name not in ("clipnorm", "clipvalue"):
                raise TypeError(f"Unexpected keyword argument passed to optimizer: {name}")
            if value < 0:
                raise ValueError(f"Expected {name} >= 0, received: {value}")
        self.__dict__.update(kwargs)
        self.updates: list = []
        self.weights: list = []

    def _set(self, **values):
        """Makes the variables, and attributes of the other values."""
        with name_scope(type(self).__name__):
            for name in self._variables:
                is_count = name == "iterations"
                made = variable(0, dtype="int64", name=name) if is_count else variable(values[name], name=name)
                setattr(self, name, made)
        for name in self._constants:
            setattr(self, name, values[name])
        if "epsilon" in values and values["epsilon"] is None:
            self.epsilon = default_epsilon()
        self.initial_decay = values.get("decay", 0.0)

    # ---- Updates --------------------------------------------------------------------------------------------

    def get_updates(self, loss, params):
        """A list of operations that change variables so that a loss becomes less."""
        grads = self.get_gradients(loss, params)
        self.updates = []
        lr = self._begin()
        slots = self._slots(params)
        for param, grad, *states in zip(params, grads, *slots, strict=True):
            values, new = self._step(param, grad, states, lr)
            self.updates += [assign(*each) for each in zip(states, values, strict=True) if each[1] is not None]
            constraint = getattr(param, "constraint", None)
            self.updates.append(assign(param, new if constraint is None else constraint(new)))
        return self.updates

    def get_gradients(self, loss, params):
        """The gradients, clipped. Raises ValueError if there is none for a variable."""
        grads = gradients(loss, params)
        if any(grad is None for grad in grads):
            raise ValueError(
                "An operation has `None` for gradient. Please make sure that all of your ops have a gradient defined "
                "(i.e. are differentiable). Common ops without gradient: K.argmax, K.round, K.eval."
            )
        if hasattr(self, "clipnorm"):
            grads = [clip_by_norm(grad, self.clipnorm) for grad in grads]
        if hasattr(self, "clipvalue"):
            grads = [clip_by_value(grad, -self.clipvalue, self.clipvalue) for grad in grads]
        return grads

    def _begin(self):
        """Counts a step, and returns the learning rate."""
        self.updates.append(assign_add(self.iterations, 1))
        return self._decayed()

    def _decayed(self):
        if not self.initial_decay > 0:
            return self.lr
        return self.lr * (1.0 / (1.0 + self.decay * ops.cast(self.iterations, dtype(self.decay))))

    def _begin_timed(self):
        """Counts a step, and returns the learning rate; `_time` is the number of the step, from 1."""
        lr = self._decayed()
        with control_dependencies([assign_add(self.iterations, 1)]):
            self._time = ops.cast(self.iterations, floatx())
        return lr

    def _slots(self, params):
        """Lists of variables, one for each of `params`; they become the weights."""
        raise NotImplementedError

    def _step(self, param, grad, states, lr):
        """(new values of the states, None where one stays; the new value of the variable)."""
        raise NotImplementedError

    # ---- State ----------------------------------------------------------------------------------------------

    def get_weights(self):
        """A list of arrays: the values of the optimizer's variables."""
        return batch_get_value(self.weights)

    def set_weights(self, weights):
        """Sets the values of the optimizer's variables. Raises ValueError for values of other numbers or shapes."""
        if len(self.weights) != len(weights):
            raise ValueError(
                f"Length of the specified weight list ({len(weights)}) does not match the number of weights of the "
                f"optimizer ({len(self.weights)})"
            )
        for value, weight in zip(batch_get_value(self.weights), weights, strict=True):
            if value.shape != weight.shape:
                raise ValueError(
                    f"Optimizer weight shape {value.shape} not compatible with provided weight shape {weight.shape}"
                )
        batch_set_value(list(zip(self.weights, weights, strict=True)))

    def get_config(self):
        """The arguments to make an optimizer like this."""
        numbers = {
            name: float(get_value(getattr(self, name)))
            for name in self._variables
            if name not in ("iterations", "m_schedule")
        }
        others = {name: getattr(self, name) for name in ("clipnorm", "clipvalue") if hasattr(self, name)}
        return {**others, **numbers, **{name: getattr(self, name) for name in self._constants}}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


def _zeros_like(params, with_type=False):
    return [zeros(int_shape(param), dtype=dtype(param) if with_type else None) for param in params]


@public("python.keras.optimizers.SGD")
class SGD(Optimizer):
    """Gradient descent, with momentum.

    Args:
      lr: the learning rate.
      momentum: the share of the last step that is added to a step.
      decay: the learning rate of step t is lr / (1 + decay t).
      nesterov: whether the gradient counts as of the place where the momentum leads.
      kwargs: of Optimizer.
    """

    _variables = ("iterations", "lr", "momentum", "decay")
    _constants = ("nesterov",)

    def __init__(self, lr=0.01, momentum=0.0, decay=0.0, nesterov=False, **kwargs):
        super().__init__(**kwargs)
        self._set(lr=lr, momentum=momentum, decay=decay, nesterov=nesterov)

    def _slots(self, params):
        moments = _zeros_like(params)
        self.weights = [self.iterations, *moments]
        return [moments]

    def _step(self, param, grad, states, lr):
        velocity = self.momentum * states[0] - lr * grad
        return [velocity], param + self.momentum * velocity - lr * grad if self.nesterov else param + velocity


@public("python.keras.optimizers.RMSprop")
class RMSprop(Optimizer):
    """Gradients divided by the root of a moving mean of their squares.

    Args:
      lr: the learning rate.
      rho: what the mean keeps at each step.
      epsilon: what is added to the root; tf.keras.backend.epsilon() by default.
      decay, kwargs: as for SGD.
    """

    _variables = ("lr", "rho", "decay", "iterations")
    _constants = ("epsilon",)

    def __init__(self, lr=0.001, rho=0.9, epsilon=None, decay=0.0, **kwargs):
        super().__init__(**kwargs)
        self._set(lr=lr, rho=rho, epsilon=epsilon, decay=decay)

    def _slots(self, params):
        self.weights = _zeros_like(params, with_type=True)
        return [self.weights]

    def _step(self, param, grad, states, lr):
        mean = self.rho * states[0] + (1.0 - self.rho) * ops.square(grad)
        return [mean], param - lr * grad / (sqrt(mean) + self.epsilon)


@public("python.keras.optimizers.Adagrad")
class Adagrad(Optimizer):
    """Gradients divided by the root of the sum of their squares; Duchi et al., JMLR 12, 2011.

    Args:
      lr, epsilon, decay, kwargs: as for RMSprop.
    """

    _variables = ("lr", "decay", "iterations")
    _constants = ("epsilon",)

    def __init__(self, lr=0.01, epsilon=None, decay=0.0, **kwargs):
        super().__init__(**kwargs)
        self._set(lr=lr, epsilon=epsilon, decay=decay)

    def _slots(self, params):
        self.weights = _zeros_like(params)
        return [self.weights]

    def _step(self, param, grad, states, lr):
        total = states[0] + ops.square(grad)
        return [total], param - lr * grad / (sqrt(total) + self.epsilon)


@public("python.keras.optimizers.Adadelta")
class Adadelta(Optimizer):
    """Gradients scaled by moving means of the squares of steps and of gradients; Zeiler, arXiv:1212.5701.

    Args:
      lr: the learning rate.
      rho: what the means keep at each step.
      epsilon, decay, kwargs: as for RMSprop.
    """

    _variables = ("lr", "decay", "iterations")
    _constants = ("rho", "epsilon")

    def __init__(self, lr=1.0, rho=0.95, epsilon=None, decay=0.0, **kwargs):
        super().__init__(**kwargs)
        self._set(lr=lr, rho=rho, epsilon=epsilon, decay=decay)

    def _slots(self, params):
        of_gradients, of_steps = _zeros_like(params), _zeros_like(params)
        self.weights = of_gradients + of_steps
        return [of_gradients, of_steps]

    def _step(self, param, grad, states, lr):
        of_gradients, of_steps = states
        mean = self.rho * of_gradients + (1.0 - self.rho) * ops.square(grad)
        step = grad * sqrt(of_steps + self.epsilon) / sqrt(mean + self.epsilon)
        return [mean, self.rho * of_steps + (1 - self.rho) * ops.square(step)], param - lr * step


@public("python.keras.optimizers.Adam")
class Adam(Optimizer):
    """Moving means of gradients, divided by the root of those of their squares; Kingma and Ba, arXiv:1412.6980.

    Args:
      lr: the learning rate.
      beta_1, beta_2: what the means of gradients and of squares keep at each step.
      epsilon, decay, kwargs: as for RMSprop.
      amsgrad: whether the greatest mean of squares so far counts; Reddi et al., ICLR 2018.
    """

    _variables = ("iterations", "lr", "beta_1", "beta_2", "decay")
    _constants = ("epsilon", "amsgrad")

    def __init__(self, lr=0.001, beta_1=0.9, beta_2=0.999, epsilon=None, decay=0.0, amsgrad=False, **kwargs):
        super().__init__(**kwargs)
        self._set(lr=lr, beta_1=beta_1, beta_2=beta_2, epsilon=epsilon, decay=decay, amsgrad=amsgrad)

    def _begin(self):
        lr = self._begin_timed()
        return lr * (sqrt(1.0 - ops.pow(self.beta_2, self._time)) / (1.0 - ops.pow(self.beta_1, self._time)))

    def _slots(self, params):
        means, squares = _zeros_like(params, True), _zeros_like(params, True)
        greatest = _zeros_like(params, True) if self.amsgrad else [zeros(1) for _ in params]
        self.weights = [self.iterations, *means, *squares, *greatest]
        return [means, squares, greatest]

    def _step(self, param, grad, states, lr):
        mean = self.beta_1 * states[0] + (1.0 - self.beta_1) * grad
        square = self.beta_2 * states[1] + (1.0 - self.beta_2) * ops.square(grad)
        greatest = ops.maximum(states[2], square) if self.amsgrad else None
        divisor = sqrt(greatest if self.amsgrad else square) + self.epsilon
        return [mean, square, greatest], param - lr * mean / divisor


@public("python.keras.optimizers.Adamax")
class Adamax(Optimizer):
    """Adam with a decaying maximum of absolute values in place of the mean of squares.

    Args:
      lr, beta_1, beta_2, epsilon, decay, kwargs: as for Adam.
    """

    _variables = ("iterations", "lr", "beta_1", "beta_2", "decay")
    _constants = ("epsilon",)

    def __init__(self, lr=0.002, beta_1=0.9, beta_2=0.999, epsilon=None, decay=0.0, **kwargs):
        super().__init__(**kwargs)
        self._set(lr=lr, beta_1=beta_1, beta_2=beta_2, epsilon=epsilon, decay=decay)

    def _begin(self):
        lr = self._begin_timed()
        return lr / (1.0 - ops.pow(self.beta_1, self._time))

    def _slots(self, params):
        means, greatest = _zeros_like(params), _zeros_like(params)
        self.weights = [self.iterations, *means, *greatest]
        return [means, greatest]

    def _step(self, param, grad, states, lr):
        mean = self.beta_1 * states[0] + (1.0 - self.beta_1) * grad
        greatest = ops.maximum(self.beta_2 * states[1], ops.abs(grad))
        return [mean, greatest], param - lr * mean / (greatest + self.epsilon)


@public("python.keras.optimizers.Nadam")
class Nadam(Optimizer):
    """Adam with Nesterov's momentum; Dozat, 2015.

    Args:
      lr, beta_1, beta_2, epsilon, kwargs: as for Adam.
      schedule_decay: how soon the momentum rises to beta_1.
    """

    _variables = ("iterations", "m_schedule", "lr", "beta_1", "beta_2")
    _constants = ("epsilon", "schedule_decay")

    def __init__(self, lr=0.002, beta_1=0.9, beta_2=0.999, epsilon=None, schedule_decay=0.004, **kwargs):
        super().__init__(**kwargs)
        self._set(lr=lr, beta_1=beta_1, beta_2=beta_2, epsilon=epsilon, schedule_decay=schedule_decay, m_schedule=1.0)

    def _momentum(self, time):
        return self.beta_1 * (1.0 - 0.5 * ops.pow(ops.constant(0.96, floatx()), time * self.schedule_decay))

    def _begin(self):
        self._begin_timed()
        self._now, self._next = self._momentum(self._time), self._momentum(self._time + 1)
        self._product = self.m_schedule * self._now
        self._next_product = self.m_schedule * self._now * self._next
        self.updates.append(assign(self.m_schedule, self._product))
        return self.lr

    def _slots(self, params):
        means, squares = _zeros_like(params), _zeros_like(params)
        self.weights = [self.iterations, self.m_schedule, *means, *squares]
        return [means, squares]

    def _step(self, param, grad, states, lr):
        mean = self.beta_1 * states[0] + (1.0 - self.beta_1) * grad
        square = self.beta_2 * states[1] + (1.0 - self.beta_2) * ops.square(grad)
        ahead = (1.0 - self._now) * (grad / (1.0 - self._product)) + self._next * (mean / (1.0 - self._next_product))
        root = sqrt(square / (1.0 - ops.pow(self.beta_2, self._time)))
        return [mean, square], param - lr * ahead / (root + self.epsilon)
