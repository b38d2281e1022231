"""The variables that normalizing layers have: beta, gamma, moving_mean and moving_variance."""

from __future__ import annotations

from stillflow.contrib.framework.model_variables import model_variable
from stillflow.contrib.layers.named_outputs import get_variable_collections
from stillflow.variables.initializers import Ones, Zeros
from stillflow.variables.scope import get_variable_scope, variable_scope

_INITIALIZERS = {"beta": Zeros(), "gamma": Ones(), "moving_mean": Zeros(), "moving_variance": Ones()}


def initializer_for(name, param_initializers):
    """The initializer that is given for a variable, or that of its name."""
    return (param_initializers or {}).get(name, _INITIALIZERS[name])


def parameter(name, shape, dtype, param_initializers, collections, trainable, regularizer=None):
    """A model variable of one of the four names."""
    return model_variable(
        name, shape=shape, dtype=dtype, initializer=initializer_for(name, param_initializers),
        regularizer=regularizer, collections=get_variable_collections(collections, name), trainable=trainable,
    )  # fmt: skip


def moving_averages(shape, dtype, param_initializers, collections):
    """(moving_mean, moving_variance), in one piece each, whatever the scope's partitioner says."""
    with variable_scope(get_variable_scope()) as scope:
        scope.set_partitioner(None)
        return tuple(
            parameter(name, shape, dtype, param_initializers, collections, False)
            for name in ("moving_mean", "moving_variance")
        )
