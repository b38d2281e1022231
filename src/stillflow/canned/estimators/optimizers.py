"""The optimizers that ready-made models know by name."""

from __future__ import annotations

from stillflow.keras.optimizers.adam import Adam
from stillflow.keras.optimizers.base import OptimizerV2
from stillflow.keras.optimizers.by_squares import Adagrad, Ftrl, RMSprop
from stillflow.keras.optimizers.gradient_descent import SGD
from stillflow.names import public
from stillflow.training.adagrad import AdagradOptimizer
from stillflow.training.adam import AdamOptimizer
from stillflow.training.ftrl import FtrlOptimizer
from stillflow.training.gradient_descent import GradientDescentOptimizer
from stillflow.training.optimizer import Optimizer
from stillflow.training.rms_prop import RMSPropOptimizer

_BY_NAME: dict = {
    "Adagrad": AdagradOptimizer,
    "Adam": AdamOptimizer,
    "Ftrl": FtrlOptimizer,
    "RMSProp": RMSPropOptimizer,
    "SGD": GradientDescentOptimizer,
}

_KERAS_BY_NAME: dict = {"Adagrad": Adagrad, "Adam": Adam, "Ftrl": Ftrl, "RMSProp": RMSprop, "SGD": SGD}


def _check_name(name, known):
    if name not in known:
        raise ValueError(f"Unsupported optimizer name: {name}. Supported names are: {tuple(sorted(known))}")


@public("python.estimator.canned.optimizers.get_optimizer_instance")
def optimizer_of(opt, learning_rate=None):
    """The tf.train.Optimizer that a name, a function or an optimizer means.

    Args:
      opt: "Adagrad", "Adam", "Ftrl", "RMSProp" or "SGD", a function that makes an optimizer, or an optimizer.
      learning_rate: for a name.

    Raises ValueError for other names and objects, and for a name without a learning rate.
    """
    if isinstance(opt, str):
        _check_name(opt, _BY_NAME)
        if not learning_rate:
            raise ValueError("learning_rate must be specified when opt is string.")
        return _BY_NAME[opt](learning_rate=learning_rate)
    if callable(opt):
        opt = opt()
    if not isinstance(opt, Optimizer):
        raise ValueError(f"The given object is not an Optimizer instance. Given: {opt}")
    return opt


@public("python.estimator.canned.optimizers.get_optimizer_instance_v2")
def keras_optimizer_of(opt, learning_rate=None):
    """The tf.keras.optimizers.Optimizer that a name, a function or an optimizer means.

    Args:
      opt: "Adagrad", "Adam", "Ftrl", "RMSProp" or "SGD", a function that makes an optimizer, or an optimizer.
      learning_rate: for a name; by default that of the optimizer.

    Raises ValueError for other names and objects.
    """
    if isinstance(opt, str):
        _check_name(opt, _KERAS_BY_NAME)
        return _KERAS_BY_NAME[opt](**({"learning_rate": learning_rate} if learning_rate else {}))
    if callable(opt):
        opt = opt()
    if not isinstance(opt, OptimizerV2):
        raise ValueError(f"The given object is not a tf.keras.optimizers.Optimizer instance. Given: {opt}")
    return opt
