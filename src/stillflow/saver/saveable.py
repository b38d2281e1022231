"""What a Saver saves: variables, parts of variables, and objects that say themselves how they are saved."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.partitioned_variables import PartitionedVariable
from stillflow.variables.resource_variable import ResourceVariable
from stillflow.variables.variable import Variable


@public("python.training.saving.saveable_object.SaveSpec")
class SaveSpec:
    """One tensor of a checkpoint: `slice_spec` says which slice of a larger one it is, or is empty.

    `tensor` may be a function that makes the tensor; it is called each time.
    """

    def __init__(self, tensor, slice_spec, name, dtype=None, device=None):
        self._tensor = tensor
        self.slice_spec = slice_spec
        self.name = name
        if callable(tensor) and (dtype is None or device is None):
            raise AssertionError(
                "When passing a callable `tensor` to a SaveSpec, an explicit dtype and device must be provided."
            )
        self.dtype = tensor.dtype if dtype is None else dtype
        self.device = tensor.device if device is None else device

    @property
    def tensor(self):
        return self._tensor() if callable(self._tensor) else self._tensor


@public("python.training.saving.saveable_object.SaveableObject")
class SaveableObject:
    """What a Saver saves under one or several keys; `restore` makes the operation that brings it back."""

    def __init__(self, op, specs, name):
        self.op = op
        self.specs = specs
        self.name = name

    @property
    def device(self):
        return self.specs[0].device

    @property
    def optional_restore(self):
        return False

    def restore(self, restored_tensors, restored_shapes):
        """An operation that restores from tensors, one per spec, reshaped to `restored_shapes` if given."""
        raise ValueError("Calling an abstract method.")


class ReferenceSaveable(SaveableObject):
    """A reference variable."""

    def __init__(self, variable, slice_spec, name):
        super().__init__(variable, [SaveSpec(variable, slice_spec, name, dtype=variable.dtype)], name)

    def restore(self, restored_tensors, restored_shapes):
        (value,) = restored_tensors
        if restored_shapes is not None:
            value = ops.reshape(value, restored_shapes[0])
        validates = restored_shapes is None and self.op.get_shape().is_fully_defined()
        return ops.assign(self.op, value, validate_shape=validates, use_locking=True)


class ResourceSaveable(SaveableObject):
    """A resource variable, or the tensor that reads it."""

    def __init__(self, variable, slice_spec, name):
        self._device = variable.device
        self._shape = variable.shape
        is_read = isinstance(variable, Tensor)
        self._handle = variable.op.inputs[0] if is_read else variable._handle
        tensor = variable if is_read else lambda: _read_on_cpu(variable)
        spec = SaveSpec(tensor, slice_spec, name, dtype=variable.dtype, device=variable.device)
        super().__init__(variable, [spec], name)

    def fitting(self, restored_tensors, restored_shapes):
        """The value in a shape that the variable takes. Raises ValueError if there is none."""
        (value,) = restored_tensors
        if restored_shapes is not None:
            value = ops.reshape(value, restored_shapes[0])
        self._shape.assert_is_compatible_with(value.shape)
        return value

    def restore(self, restored_tensors, restored_shapes):
        value = self.fitting(restored_tensors, restored_shapes)
        with self._handle.graph.device(self._device):
            value = ops.identity(value)
            return ops.assign_variable_op(self._handle, value)


def _read_on_cpu(variable):
    graph = variable._graph
    with graph.device(variable.device):
        value = variable.read_value()
        with graph.device("/device:CPU:0"):
            return ops.identity(value)


def _comes_from_variable(tensor):
    return isinstance(tensor, Tensor) and (tensor.op._op_def.is_variable or tensor.op.type == "ReadVariableOp")


def _tensor_of(variable):
    """The tensor by which graphs know a variable."""
    if isinstance(variable, ResourceVariable):
        return variable if variable._graph_element is None else variable._graph_element
    return convert_to_tensor(variable, as_ref=True)


def by_name(variables):
    """{name: variable, or the list of the parts that have this name as a whole}.

    Raises:
      TypeError: for what is no list, tuple or set of variables.
      ValueError: if two have one name.
    """
    if not isinstance(variables, (list, tuple, set)):
        raise TypeError(f"Variables to save should be passed in a dict or a list: {variables}")
    found: dict = {}
    for variable in sorted(variables, key=lambda v: v.name):
        if isinstance(variable, SaveableObject):
            found[variable.name] = variable
        elif isinstance(variable, PartitionedVariable):
            if variable.name in found:
                raise ValueError(f"At least two variables have the same name: {variable.name}")
            found[variable.name] = variable
        elif isinstance(variable, Variable) and variable._get_save_slice_info():
            name = variable._get_save_slice_info().full_name
            if not isinstance(found.setdefault(name, []), list):
                raise ValueError(f"Mixing slices and non-slices with the same name: {name}")
            found[name].append(variable)
        elif _saveables_of_object(variable) is not None:
            found.update(by_name(_saveables_of_object(variable)))
        else:
            add_by_name(found, variable)
    return found


@by_mode
def add_by_name(found, variable):
    """Adds a whole variable, or a tensor that stands for one, to {name: variable}."""
    tensor = _tensor_of(variable)
    if not _comes_from_variable(tensor):
        raise TypeError(f"Variable to save is not a Variable: {tensor}")
    name = tensor.op.inputs[0].op.name if tensor.op.type == "ReadVariableOp" else tensor.op.name
    if name in found:
        raise ValueError(f"At least two variables have the same name: {name}")
    found[name] = tensor


@eager_version_of(add_by_name)
def add_eager_by_name(found, variable):
    if not isinstance(variable, ResourceVariable):
        raise ValueError(
            f"Can only save/restore ResourceVariables when eager execution is enabled, type: {type(variable)}."
        )
    if found.setdefault(variable._shared_name, variable) is not variable:
        raise ValueError(
            f"Two different ResourceVariable objects with the same shared_name '{variable._shared_name}' were passed "
            "to the Saver."
        )


def _saveables_of_object(value):
    """The saveables of an object that is no variable and has some, as tables do; None for others."""
    if isinstance(value, (Variable, Tensor)) or not hasattr(value, "_gather_saveables_for_checkpoint"):
        return None
    return [
        make() if callable(make) else make for _, make in sorted(value._gather_saveables_for_checkpoint().items())
    ]


def saveables_of(value, name):
    """The SaveableObjects of what a Saver was given under `name`."""
    if not isinstance(name, str):
        raise TypeError(
            f"names_to_saveables must be a dict mapping string names to trackable operations. Name is not a string: "
            f"{name}"
        )
    if isinstance(value, SaveableObject):
        return [value]
    if isinstance(value, (list, tuple, PartitionedVariable)):
        return _saveables_of_parts(list(value), name)
    of_object = _saveables_of_object(value)
    if of_object is not None:
        return [saveable for item in of_object for saveable in saveables_of(item, name)]
    tensor = _tensor_of(value)
    if isinstance(value, ResourceVariable):
        return [ResourceSaveable(tensor, "", name)]
    if not _comes_from_variable(tensor):
        raise TypeError(
            f"names_to_saveables must be a dict mapping string names to Tensors/Variables. Not a variable: {tensor}"
        )
    kind = ReferenceSaveable if tensor.dtype._is_ref_dtype else ResourceSaveable
    return [kind(tensor, "", name)]


def _saveables_of_parts(parts, name):
    found = []
    whole = None
    for part in parts:
        if not isinstance(part, Variable):
            raise ValueError(f"Slices must all be Variables: {part}")
        info = part._get_save_slice_info()
        if not info:
            raise ValueError(f"Slices must all be slices: {part}")
        if whole is not None and whole != info.full_name:
            raise ValueError(f"Slices must all be from the same tensor: {whole} != {info.full_name}")
        whole = info.full_name
        kind = ResourceSaveable if isinstance(part, ResourceVariable) else ReferenceSaveable
        found.append(kind(part, info.spec, name))
    return found


def saveables(variables):
    """The SaveableObjects of a dict or list of variables, in the order of their names.

    Raises:
      TypeError, ValueError: for what cannot be saved, and for what would be saved twice.
    """
    named = variables if isinstance(variables, dict) else by_name(variables)
    found = []
    seen = set()
    for name, value in sorted(named.items(), key=lambda item: item[0]):
        for saveable in saveables_of(value, name):
            if id(saveable.op) in seen:
                raise ValueError(f"The same saveable will be restored with two names: {saveable.name}")
            seen.add(id(saveable.op))
            found.append(saveable)
    return found
