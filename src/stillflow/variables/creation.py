"""tf.Variable(...): which class a new variable is of, and who else has a say in how it is made."""

from __future__ import annotations

import contextlib
import functools

from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode, by_outermost_mode
from stillflow.graph.name_scope import init_scope
from stillflow.variables.copies import VariableAggregation, VariableSynchronization
from stillflow.variables.creators import creators
from stillflow.variables.defaults import resource_variables_enabled
from stillflow.variables.ref_variable import RefVariable
from stillflow.variables.resource_variable import ResourceVariable
from stillflow.variables.scope import get_variable_scope
from stillflow.variables.variable import VariableType


class Maker:
    """What tf.Variable does when it is called."""

    def __call__(
        self, initial_value=None, trainable=None, collections=None, validate_shape=True, caching_device=None,
        name=None, variable_def=None, dtype=None, expected_shape=None, import_scope=None, constraint=None,
        use_resource=None, synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE,
        shape=None,
    ):  # fmt: skip
        """Asks the creators of the variable creator scopes, the innermost first, and then the default creator."""
        create = default_creator
        for creator in creators().active:
            create = functools.partial(creator, create)
        return create(
            initial_value=initial_value, trainable=trainable, collections=collections, validate_shape=validate_shape,
            caching_device=caching_device, name=name, variable_def=variable_def, dtype=dtype,
            expected_shape=expected_shape, import_scope=import_scope, constraint=constraint,
            use_resource=use_resource, synchronization=synchronization, aggregation=aggregation, shape=shape,
        )  # fmt: skip

    def from_proto(self, variable_def, import_scope):
        """See Variable.from_proto; no creator is asked."""
        cls = ResourceVariable if variable_def.is_resource else RefVariable
        return cls(variable_def=variable_def, import_scope=import_scope)


@by_mode
def uses_resource(use_resource, variable_def):
    """Whether a variable is to be a resource variable; `use_resource` and `variable_def` are tf.Variable's."""
    if variable_def is not None:
        return variable_def.is_resource
    if use_resource is None:
        use_resource = get_variable_scope().use_resource
    return resource_variables_enabled() if use_resource is None else use_resource


def default_creator(use_resource=None, expected_shape=None, **options):
    """The variable of tf.Variable's arguments; the creator that all others lead to."""
    with init_scope() if get_default_graph().serves_eager_execution else contextlib.nullcontext():
        cls = ResourceVariable if uses_resource(use_resource, options["variable_def"]) else RefVariable
        return made(cls, options)


@by_outermost_mode
def made(cls, options):
    """A variable of that class."""
    return cls(**options)


VariableType.maker = Maker()
