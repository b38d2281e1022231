"""Learning rates that depend on the number of steps, as objects."""

from __future__ import annotations

from stillflow.keras.serialization import Known, deserialize_keras_object
from stillflow.layers.core import serialization
from stillflow.names import public
from stillflow.training import schedules


@public("keras.optimizers.schedules.LearningRateSchedule")
class LearningRateSchedule:
    """A function from the number of steps to a learning rate, that can be turned into plain values and back."""

    def __call__(self, step):
        raise NotImplementedError("Learning rate schedule must override __call__")

    def get_config(self):
        raise NotImplementedError("Learning rate schedule must override get_config")

    @classmethod
    def from_config(cls, config):
        return cls(**config)


class _OfFunction(LearningRateSchedule):
    """A schedule that a function of tf.train computes; its arguments are the object's attributes."""

    _function = staticmethod(lambda *args, **kwargs: None)
    _rate_name = "initial_learning_rate"

    def __call__(self, step):
        arguments = dict(vars(self))
        return self._function(arguments.pop(self._rate_name), step, **arguments)

    def get_config(self):
        return dict(vars(self))


def _computing(function):
    """The function as it is where nodes are built, in eager execution too."""
    return staticmethod(getattr(function, "__wrapped__", function))


@public("keras.optimizers.schedules.ExponentialDecay")
class ExponentialDecay(_OfFunction):
    """initial_learning_rate * decay_rate ** (step / decay_steps)."""

    _function = _computing(schedules.exponential_decay)

    def __init__(self, initial_learning_rate, decay_steps, decay_rate, staircase=False, name=None):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.decay_rate = decay_rate
        self.staircase = staircase
        self.name = name


@public("keras.optimizers.schedules.InverseTimeDecay")
class InverseTimeDecay(_OfFunction):
    """initial_learning_rate / (1 + decay_rate * step / decay_steps)."""

    _function = _computing(schedules.inverse_time_decay)

    def __init__(self, initial_learning_rate, decay_steps, decay_rate, staircase=False, name=None):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.decay_rate = decay_rate
        self.staircase = staircase
        self.name = name


@public("keras.optimizers.schedules.PolynomialDecay")
class PolynomialDecay(_OfFunction):
    """From initial_learning_rate to end_learning_rate in decay_steps."""

    _function = _computing(schedules.polynomial_decay)

    def __init__(
        self, initial_learning_rate, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False, name=None
    ):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.end_learning_rate = end_learning_rate
        self.power = power
        self.cycle = cycle
        self.name = name


@public("keras.optimizers.schedules.PiecewiseConstantDecay")
class PiecewiseConstantDecay(LearningRateSchedule):
    """values[i] up to boundaries[i], then the next one. Raises ValueError unless there is one value more."""

    def __init__(self, boundaries, values, name=None):
        if len(boundaries) != len(values) - 1:
            raise ValueError("The length of boundaries should be 1 less than the length of values")
        self.boundaries = boundaries
        self.values = values
        self.name = name

    def __call__(self, step):
        function = getattr(schedules.piecewise_constant, "__wrapped__", schedules.piecewise_constant)
        return function(step, self.boundaries, self.values, self.name)

    def get_config(self):
        return {"boundaries": self.boundaries, "values": self.values, "name": self.name}


@public("keras.experimental.CosineDecay")
class CosineDecay(_OfFunction):
    """Half a cosine from initial_learning_rate to alpha times that, in decay_steps."""

    _function = _computing(schedules.cosine_decay)

    def __init__(self, initial_learning_rate, decay_steps, alpha=0.0, name=None):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.alpha = alpha
        self.name = name


@public("keras.experimental.LinearCosineDecay")
class LinearCosineDecay(_OfFunction):
    """A line and a cosine that fall together, in decay_steps."""

    _function = _computing(schedules.linear_cosine_decay)

    def __init__(self, initial_learning_rate, decay_steps, num_periods=0.5, alpha=0.0, beta=0.001, name=None):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.num_periods = num_periods
        self.alpha = alpha
        self.beta = beta
        self.name = name


@public("keras.experimental.CosineDecayRestarts")
class CosineDecayRestarts(_OfFunction):
    """Like CosineDecay, again and again: each time in t_mul times as many steps, from m_mul times the rate."""

    _function = _computing(schedules.cosine_decay_restarts)

    def __init__(self, initial_learning_rate, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0, name=None):
        self.initial_learning_rate = initial_learning_rate
        self.first_decay_steps = first_decay_steps
        self.t_mul = t_mul
        self.m_mul = m_mul
        self.alpha = alpha
        self.name = name


@public("keras.experimental.NoisyLinearCosineDecay")
class NoisyLinearCosineDecay(_OfFunction):
    """Like LinearCosineDecay, with normal noise of variance initial_variance / (1 + step) ** variance_decay."""

    _function = _computing(schedules.noisy_linear_cosine_decay)

    def __init__(
        self, initial_learning_rate, decay_steps, initial_variance=1.0, variance_decay=0.55, num_periods=0.5,
        alpha=0.0, beta=0.001, name=None,
    ):  # fmt: skip
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.initial_variance = initial_variance
        self.variance_decay = variance_decay
        self.num_periods = num_periods
        self.alpha = alpha
        self.beta = beta
        self.name = name


_SCHEDULES = Known("keras.optimizers.schedules", "keras.experimental")


@public("keras.optimizers.schedules.serialize")
def serialize(learning_rate_schedule):
    """A schedule as plain values, or its name; see `deserialize`."""
    return serialization.serialize(learning_rate_schedule)


@public("keras.optimizers.schedules.deserialize")
def deserialize(config, custom_objects=None):
    """The schedule of what `serialize` returned. Raises ValueError for an unknown one."""
    return deserialize_keras_object(config, _SCHEDULES, custom_objects, "decay")
