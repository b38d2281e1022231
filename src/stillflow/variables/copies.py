"""What may be said of the copies of a distributed variable."""

from __future__ import annotations

import enum

from stillflow.names import public


@public("python.ops.variable_scope.VariableSynchronization")
@public("VariableSynchronization")
class VariableSynchronization(enum.Enum):
    """When the copies of a distributed variable are brought together; of one copy, only ON_READ says something."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


@public("python.ops.variable_scope.VariableAggregation")
@public("VariableAggregation")
class VariableAggregation(enum.Enum):
    """How the copies of a distributed variable are brought together; there is one."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


def is_trainable(trainable, synchronization):
    """Whether optimizers are to change a variable: where nothing is said, those that are not read from copies."""
    return synchronization is not VariableSynchronization.ON_READ if trainable is None else trainable
