"""compat.v2.Variable: a variable that is a resource."""

from __future__ import annotations

import stillflow as tf
from stillflow.names import public


class _VariableType(type):
    """Variables are of the classes of tf.Variable, and all of those are instances."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, tf.Variable)

    def __subclasscheck__(cls, subclass):
        return issubclass(subclass, tf.Variable)

    def __getattr__(cls, name):
        """What tf.Variable has as a class: `SaveSliceInfo`, `from_proto`."""
        return getattr(tf.Variable, name)


@public("compat.v2.Variable", "python.ops.variables.Variable", "python.ops.standard_ops.Variable")
class Variable(metaclass=_VariableType):
    """tf.Variable with use_resource=True."""

    def __new__(
        cls, initial_value=None, trainable=None, validate_shape=True, caching_device=None, name=None,
        variable_def=None, dtype=None, import_scope=None, constraint=None,
        synchronization=tf.VariableSynchronization.AUTO, aggregation=tf.VariableAggregation.NONE, shape=None,
    ):  # fmt: skip
        """The variable; see tf.Variable for the arguments, and for what is raised."""
        return tf.Variable(
            initial_value=initial_value, trainable=trainable, validate_shape=validate_shape,
            caching_device=caching_device, name=name, variable_def=variable_def, dtype=dtype,
            import_scope=import_scope, constraint=constraint, use_resource=True, synchronization=synchronization,
            aggregation=aggregation, shape=shape,
        )  # fmt: skip
