"""Variables set from arrays or from a checkpoint, by an operation and what it is fed."""

from __future__ import annotations

import logging

from stillflow import ops
from stillflow.contrib.framework.model_variables import get_variable_full_name
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.saver.checkpoint_reader import NewCheckpointReader
from stillflow.saver.saver import Saver

_V1 = 1


def _assigned(variable):
    """(the assignment of what is fed, what to feed)."""
    place = ops.placeholder(variable.dtype.base_dtype, shape=variable.shape, name=f"placeholder/{variable.op.name}")
    return variable.assign(place), place


@public("contrib.framework.assign_from_values")
def assign_from_values(var_names_to_values):
    """An operation that sets variables to arrays, and what to feed it.

    Args:
      var_names_to_values: {name of a variable: array}.

    Raises:
      ValueError: for a name that no variable has.
    """
    feeds, assignments = {}, []
    for name, value in var_names_to_values.items():
        variable = _found(name)
        assignment, place = _assigned(variable)
        assignments.append(assignment)
        feeds[place] = value.reshape(variable.shape.as_list())
    return group(*assignments), feeds


def _found(name):
    variables = get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES, name)
    if not variables:
        raise ValueError(f"Variable {name} wasn't found")
    if len(variables) == 1:
        return variables[0]
    for variable in variables:
        if variable.op.name == name:
            return variable
    raise ValueError(f"Variable {name} doesn't uniquely identify a variable")


@public("contrib.framework.assign_from_values_fn")
def assign_from_values_fn(var_names_to_values):
    """A function of a session that sets variables to arrays; see `assign_from_values`."""
    assignment, feeds = assign_from_values(var_names_to_values)
    return lambda session: session.run(assignment, feeds)


@public("contrib.framework.assign_from_checkpoint")
def assign_from_checkpoint(model_path, var_list, ignore_missing_vars=False):
    """An operation that sets variables to what a checkpoint has for them, and what to feed it.

    Args:
      model_path: the checkpoint.
      var_list: a list of variables, or {name in the checkpoint: variable, or list of the parts of one}.
      ignore_missing_vars: whether variables that are not in the checkpoint are left as they are.

    Raises:
      ValueError: for a variable that is not in the checkpoint, or has another shape there.
    """
    by_name: dict = {}
    if isinstance(var_list, (tuple, list)):
        for variable in var_list:
            by_name.setdefault(get_variable_full_name(variable), []).append(variable)
    else:
        for name, value in var_list.items():
            by_name[name] = value if isinstance(value, (tuple, list)) else [value]
    reader = NewCheckpointReader(model_path)
    feeds, assignments = {}, []
    for name, variables in by_name.items():
        if not reader.has_tensor(name):
            message = f"Checkpoint is missing variable [{name}]"
            if not ignore_missing_vars:
                raise ValueError(message)
            logging.getLogger("tensorflow").warning(message)
            continue
        value = reader.get_tensor(name)
        for variable in variables:
            assignment, place = _assigned(variable)
            assignments.append(assignment)
            feeds[place] = _value_for(variable, value, name)
    return group(*assignments), feeds


def _value_for(variable, value, name):
    part = variable._save_slice_info
    if part:
        places = zip(part.var_offset, part.var_shape, strict=True)
        return value[tuple(slice(start, start + size) for start, size in places)].reshape(part.var_shape)
    if variable.shape != value.shape:
        raise ValueError(
            f"Total size of new array must be unchanged for {name} lh_shape: [{value.shape}], rh_shape: "
            f"[{variable.shape}]"
        )
    return value


@public("contrib.framework.assign_from_checkpoint_fn")
def assign_from_checkpoint_fn(model_path, var_list, ignore_missing_vars=False, reshape_variables=False):
    """A function of a session that restores variables from a checkpoint; None if there is nothing to restore.

    Args:
      model_path: the checkpoint.
      var_list: a list of variables, or {name in the checkpoint: variable}.
      ignore_missing_vars: whether variables that are not in the checkpoint are left as they are.
      reshape_variables: whether the checkpoint's shapes may be other ones of as many elements.

    Raises:
      ValueError: for an empty list.
    """
    if not var_list:
        raise ValueError("var_list cannot be empty")
    log = logging.getLogger("tensorflow")
    if ignore_missing_vars:
        reader = NewCheckpointReader(model_path)
        named = var_list if isinstance(var_list, dict) else {variable.op.name: variable for variable in var_list}
        var_list = {name: variable for name, variable in named.items() if reader.has_tensor(name)}
        for name in named.keys() - var_list.keys():
            log.warning("Variable %s missing in checkpoint %s", name, model_path)
    if not var_list:
        log.warning("No Variables to restore")
        return None
    saver = Saver(var_list, reshape=reshape_variables, write_version=_V1)
    return lambda session: saver.restore(session, model_path)
