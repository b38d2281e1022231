"""tf.train.init_from_checkpoint: variables whose initializers read a checkpoint."""

from __future__ import annotations

import os

from stillflow import ops
from stillflow.files import filesystem
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.saver import checkpoint_state
from stillflow.saver.checkpoint_reader import load_checkpoint
from stillflow.saver.saveable import by_name, saveables_of
from stillflow.variables.scope import default_variable_store
from stillflow.variables.variable import Variable


@public("train.init_from_checkpoint")
def init_from_checkpoint(ckpt_dir_or_file, assignment_map):
    """Makes the initializers of variables read a checkpoint. Nothing is read before they run.

    Args:
      ckpt_dir_or_file: a checkpoint, or a folder of which to take the newest one.
      assignment_map: {name in the checkpoint: variable, or its name, or the list of its parts} or {scope in the
        checkpoint: scope of the graph}, scopes with a "/" at their ends and "/" for the outermost.

    Raises:
      ValueError: if a tensor is not in the checkpoint or of another shape, or a map makes no sense.
      tf.errors.OpError: if there is no such checkpoint.
    """
    path = filesystem.path_text(ckpt_dir_or_file)
    reader = load_checkpoint(path)
    filename = checkpoint_state.latest_checkpoint(path) if os.path.isdir(path) else path
    shapes = reader.get_variable_to_shape_map()
    known = default_variable_store()._variables
    for tensor_name, target in sorted(assignment_map.items()):
        variable = _variable(target, known)
        if variable is not None:
            _check(variable, tensor_name, shapes, ckpt_dir_or_file)
            _set_initializers(variable, filename, tensor_name)
        else:
            for name, source in _pairs_of_scopes(tensor_name, target, known):
                if source not in shapes:
                    scope = target.rpartition("/")[0]
                    short = name[len(scope) + 1 :] if scope else name
                    raise ValueError(
                        f"Tensor {source} ({short} in {tensor_name}) is not found in {ckpt_dir_or_file} checkpoint"
                    )
                _set_initializers(_variable(name, known), filename, source)


def _variable(target, known):
    """The variable, or the list of its parts, that a target of a map is or names; None for a scope."""
    if isinstance(target, Variable) or (isinstance(target, list) and all(isinstance(v, Variable) for v in target)):
        return target
    if not isinstance(target, str):
        return list(target)  # a PartitionedVariable
    if target in known:
        return known[target]
    parts: list = []
    while f"{target}/part_{len(parts)}" in known:
        parts.append(known[f"{target}/part_{len(parts)}"])
    return parts or None


def _check(variable, tensor_name, shapes, checkpoint):
    if tensor_name not in shapes:
        raise ValueError(f"Tensor {tensor_name} is not found in {checkpoint} checkpoint {shapes}")
    shape = shapes[tensor_name]
    if isinstance(variable, Variable) and not variable.get_shape().is_compatible_with(shape):
        raise ValueError(
            f"Shape of variable {variable.name} ({variable.get_shape()}) doesn't match with shape of tensor "
            f"{tensor_name} ({shape}) from checkpoint reader."
        )


def _pairs_of_scopes(source_scope, target_scope, known):
    """[(name of a variable, name in the checkpoint)] of the variables in a scope."""
    scope = target_scope.rpartition("/")[0]
    if not source_scope.endswith("/"):
        raise ValueError(
            f"Assignment map with scope only name {scope} should map to scope only {source_scope}. Should be "
            "'scope/': 'other_scope/'."
        )
    names = {name.partition("/part_")[0] for name in known if not scope or name.startswith(f"{scope}/")}
    prefix = "" if source_scope == "/" else source_scope
    return [(name, prefix + (name[len(scope) + 1 :] if scope else name)) for name in sorted(names)]


def _set_initializers(variable, filename, tensor_name):
    if isinstance(variable, Variable):
        _set_initializer(variable, filename, tensor_name, "")
        return
    wholes = {part._get_save_slice_info().full_name for part in variable}
    if len(wholes) > 1:
        raise ValueError(f"Slices must all be from the same tensor: {' != '.join(sorted(wholes))}")
    for part in variable:
        _set_initializer(part, filename, tensor_name, part._get_save_slice_info().spec)


def _set_initializer(variable, filename, tensor_name, slice_spec):
    graph = get_default_graph()
    with graph.device(variable.device), graph.device("/cpu:0"):
        (value,) = ops.restore_v2(
            filename, [tensor_name], [slice_spec], dtypes=[variable.dtype.base_dtype], name="checkpoint_initializer"
        )
        ((name, target),) = by_name([variable]).items()
        (saveable,) = saveables_of(target, name)
    restored = saveable.restore([value], None)
    variable._initializer_op = restored
    value.set_shape(variable.shape)
    variable._initial_value = value
