"""The optimizers that ready-made models know by name."""

from __future__ import annotations

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


@public("python.estimator.canned.optimizers.get_optimizer_instance")
def optimizer_of(opt, learning_rate=None):
    """The tf.train.Optimizer that a name, a function or an optimizer means.

    Args:
      opt: "Adagrad", "Adam", "Ftrl", "RMSProp" or "SGD", a function that makes an optimizer, or an optimizer.
      learning_rate: for a name.

    Raises ValueError for other names and objects, and for a name without a learning rate.
    """
    if isinstance(opt, str):
        if opt not in _BY_NAME:
            raise ValueError(f"Unsupported optimizer name: {opt}. Supported names are: {tuple(sorted(_BY_NAME))}")
        if not learning_rate:
            raise ValueError("learning_rate must be specified when opt is string.")
        return _BY_NAME[opt](learning_rate=learning_rate)
    if callable(opt):
        opt = opt()
    if not isinstance(opt, Optimizer):
        raise ValueError(f"The given object is not an Optimizer instance. Given: {opt}")
    return opt
