"""Variables of models: made with a device and collections of their own, and found by their names."""

from __future__ import annotations

import functools
import re

from stillflow import ops
from stillflow.contrib.framework.argument_scopes import add_arg_scope
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.device_spec import DeviceSpec
from stillflow.names import public
from stillflow.training import global_step
from stillflow.variables.copies import VariableAggregation, VariableSynchronization
from stillflow.variables.get_variable import get_variable
from stillflow.variables.resource_variable import is_resource_variable
from stillflow.variables.scope import VariableScope, get_variable_scope
from stillflow.variables.variable import Variable


@public("contrib.framework.assert_or_get_global_step")
def assert_or_get_global_step(graph=None, global_step_tensor=None):
    """The global step that is given, if it can be one, else the graph's, or None. Raises TypeError or ValueError."""
    if global_step_tensor is None:
        return global_step.get_global_step(graph)
    global_step.assert_global_step(global_step_tensor)
    return global_step_tensor


@public("contrib.framework.zero_initializer")
def zero_initializer(ref, use_locking=True, name="zero_initializer"):
    """An operation that gives a variable without a value zeros, without a tensor of zeros beside it.

    Args:
      ref: a variable of numbers, or the reference of one.
      use_locking: not used; a lock is always taken.

    Returns:
      The reference, or the handle of a resource variable. A run fails with InvalidArgumentError if there is a value.
    """
    if is_resource_variable(ref):
        return ops.zero_var_initializer(ref.handle, shape=ref.shape, dtype=ref.dtype.base_dtype, name=name)
    return ops.zero_initializer(ref, name=name)


@public("contrib.framework.local_variable")
def local_variable(initial_value, validate_shape=True, name=None, use_resource=None):
    """A tf.Variable in GraphKeys.LOCAL_VARIABLES, which is not trained."""
    return Variable(
        initial_value, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], validate_shape=validate_shape,
        use_resource=use_resource, name=name,
    )  # fmt: skip


@public("contrib.framework.global_variable")
def global_variable(initial_value, validate_shape=True, name=None, use_resource=None):
    """A tf.Variable in GraphKeys.GLOBAL_VARIABLES, which is not trained."""
    return Variable(
        initial_value, trainable=False, collections=[GraphKeys.GLOBAL_VARIABLES], validate_shape=validate_shape,
        use_resource=use_resource, name=name,
    )  # fmt: skip


@public("contrib.framework.variable")
@add_arg_scope
def variable(
    name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=True, collections=None,
    caching_device=None, device=None, partitioner=None, custom_getter=None, use_resource=None,
    synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE,
):  # fmt: skip
    """tf.get_variable, on a device.

    Args:
      collections: the collections to add it to; by default [GraphKeys.GLOBAL_VARIABLES].
      device: where it is to be, a device or a function.
      custom_getter: what makes the variable instead of tf.get_variable; it is passed `reuse`, too.
      The rest: see tf.get_variable.
    """
    collections = list(dict.fromkeys([GraphKeys.GLOBAL_VARIABLES] if collections is None else collections))
    getter = get_variable
    if custom_getter is not None:
        getter = functools.partial(custom_getter, reuse=get_variable_scope().reuse)
    with get_default_graph().device(device or ""):
        return getter(
            name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer, trainable=trainable,
            collections=collections, caching_device=caching_device, partitioner=partitioner,
            use_resource=use_resource, synchronization=synchronization, aggregation=aggregation,
        )  # fmt: skip


@public("contrib.framework.model_variable")
@add_arg_scope
def model_variable(
    name, shape=None, dtype=dtypes.float32, initializer=None, regularizer=None, trainable=True, collections=None,
    caching_device=None, device=None, partitioner=None, custom_getter=None, use_resource=None,
    synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE,
):  # fmt: skip
    """`variable`, in the collections GLOBAL_VARIABLES and MODEL_VARIABLES besides those given."""
    return variable(
        name, shape, dtype, initializer, regularizer, trainable,
        [*(collections or ()), GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES], caching_device, device,
        partitioner, custom_getter, use_resource, synchronization, aggregation,
    )  # fmt: skip


@public("contrib.framework.add_model_variable")
def add_model_variable(var):
    """Puts a variable into GraphKeys.MODEL_VARIABLES, unless it is there."""
    found = get_default_graph().get_collection_ref(GraphKeys.MODEL_VARIABLES)
    if not any(var is each for each in found):
        found.append(var)


# ---- Variables by their names -------------------------------------------------------------------------------


@public("contrib.framework.get_variables")
def get_variables(scope=None, suffix=None, collection=GraphKeys.GLOBAL_VARIABLES):
    """A list of the variables in a collection.

    Args:
      scope: what their names begin with, a regular expression or a VariableScope.
      suffix: what their names end with.
      collection: the collection.
    """
    if isinstance(scope, VariableScope):
        scope = scope.name
    if suffix is not None:
        scope = f"{scope or ''}.*{suffix}" + ("" if ":" in suffix else ":")
    return get_default_graph().get_collection(collection, scope)


@public("contrib.framework.get_model_variables")
def get_model_variables(scope=None, suffix=None):
    """A list of the model's variables; see `get_variables`."""
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


@public("contrib.framework.get_local_variables")
def get_local_variables(scope=None, suffix=None):
    """A list of the local variables; see `get_variables`."""
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


@public("contrib.framework.get_trainable_variables")
def get_trainable_variables(scope=None, suffix=None):
    """A list of the variables to be trained; see `get_variables`."""
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


@public("contrib.framework.get_variables_to_restore")
def get_variables_to_restore(include=None, exclude=None):
    """A list of the global variables in some scopes, but not in others.

    Args:
      include: a list of the scopes; None for all.
      exclude: a list of those that do not count.

    Raises:
      TypeError: for what is no list.
    """
    for what, scopes in (("include", include), ("exclude", exclude)):
        if scopes is not None and not isinstance(scopes, (list, tuple)):
            raise TypeError(f"{what} is provided but is not a list or a tuple.")
    included = get_variables() if include is None else [each for scope in include for each in get_variables(scope)]
    excluded = {id(each) for scope in exclude or () for each in get_variables(scope)}
    return [each for each in included if id(each) not in excluded]


@public("contrib.framework.get_variables_by_suffix")
def get_variables_by_suffix(suffix, scope=None):
    """A list of the variables whose names end with `suffix`."""
    return get_variables(scope=scope, suffix=suffix)


@public("contrib.framework.get_variables_by_name")
def get_variables_by_name(given_name, scope=None):
    """A list of the variables of that name in any scope."""
    return get_variables(scope=scope, suffix=f"/{given_name}:|^{given_name}:")


@public("contrib.framework.get_unique_variable")
def get_unique_variable(var_op_name):
    """The variable whose operation has that name. Raises ValueError if there is none."""
    candidates = get_variables(scope=var_op_name)
    if not candidates:
        raise ValueError(f"Couldn't find variable {var_op_name}")
    for candidate in candidates:
        if candidate.op.name == var_op_name:
            return candidate
    raise ValueError(f"Variable {var_op_name} does not uniquely identify a variable")


@public("contrib.framework.get_variable_full_name")
def get_variable_full_name(var):
    """The name of a variable in checkpoints: of a part, that of the whole."""
    return var._save_slice_info.full_name if var._save_slice_info else var.op.name


@public("contrib.framework.filter_variables")
def filter_variables(var_list, include_patterns=None, exclude_patterns=None, reg_search=True):
    """The variables of a list whose names match one of the patterns, and none of those that exclude.

    Args:
      var_list: the list.
      include_patterns, exclude_patterns: regular expressions, or None.
      reg_search: whether they may match anywhere, rather than at the beginning.
    """
    matches = re.search if reg_search else re.match
    return [
        var
        for var in var_list
        if (include_patterns is None or any(matches(pattern, var.name) for pattern in include_patterns))
        and not any(matches(pattern, var.name) for pattern in exclude_patterns or ())
    ]


@public("contrib.framework.VariableDeviceChooser")
class VariableDeviceChooser:
    """A function of operations that deals out the tasks of a job, in turn.

    Args:
      num_tasks: how many tasks there are; with 0 no job is named.
      job_name: the job.
      device_type, device_index, replica: what else the devices' names say.
    """

    def __init__(self, num_tasks=0, job_name="ps", device_type="CPU", device_index=0, replica=None):
        self._job_name = job_name
        self._device_type = device_type
        self._device_index = device_index
        self._replica = replica
        self._num_tasks = num_tasks
        self._next_task_id = 0

    def __call__(self, op):
        spec = DeviceSpec(replica=self._replica, device_type=self._device_type, device_index=self._device_index)
        if self._num_tasks > 0:
            spec.job, spec.task = self._job_name, self._next_task_id
            self._next_task_id = (self._next_task_id + 1) % self._num_tasks
        return spec.to_string()
