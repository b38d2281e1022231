"""The variables of a graph that are found by their names: whole ones, and ones in parts."""

from __future__ import annotations

import inspect
import traceback

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.copies import VariableAggregation, VariableSynchronization, is_trainable
from stillflow.variables.defaults import resource_variables_enabled
from stillflow.variables.initializers import GlorotUniform, Zeros
from stillflow.variables.partitioned_variables import PartitionedVariable, call_partitioner, slices
from stillflow.variables.slices import PartitionInfo, SaveSliceInfo
from stillflow.variables.variable import Variable


@public("python.ops.variable_scope._VariableStore")
class VariableStore:
    """The variables that get_variable finds again. One that does not keep them makes a new one each time."""

    def __init__(self, keeps_variables=True):
        self.keeps_variables = keeps_variables
        self._variables = {}
        self._partitioned = {}

    @property
    def _vars(self):
        """{name: variable}, which programs look into."""
        return self._variables

    def get_variable(
        self, name, shape=None, dtype=dtypes.float32, initializer=None, regularizer=None, reuse=None, trainable=None,
        collections=None, caching_device=None, partitioner=None, validate_shape=True, use_resource=None,
        custom_getter=None, constraint=None, synchronization=VariableSynchronization.AUTO,
        aggregation=VariableAggregation.NONE,
    ):  # fmt: skip
        """The variable of that name, new or known; the arguments are get_variable's."""
        options = {
            "shape": shape, "dtype": dtype, "initializer": initializer, "regularizer": regularizer, "reuse": reuse,
            "trainable": is_trainable(trainable, synchronization), "collections": collections,
            "caching_device": caching_device, "partitioner": partitioner, "validate_shape": validate_shape,
            "use_resource": use_resource, "constraint": constraint, "synchronization": synchronization,
            "aggregation": aggregation,
        }  # fmt: skip
        if custom_getter is None:
            return self._get(name, **options)
        if not callable(custom_getter):
            raise ValueError(f"Passed a custom_getter which is not callable: {custom_getter}")
        if not _takes(custom_getter, "constraint"):
            options.pop("constraint")
        return custom_getter(getter=self._get, name=name, **options)

    def _get(
        self, name, shape=None, dtype=dtypes.float32, initializer=None, regularizer=None, reuse=None, trainable=None,
        collections=None, caching_device=None, partitioner=None, validate_shape=True, use_resource=None,
        constraint=None, synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE,
    ):  # fmt: skip
        options = {
            "shape": shape, "dtype": dtype, "initializer": initializer, "regularizer": regularizer, "reuse": reuse,
            "trainable": trainable, "collections": collections, "caching_device": caching_device,
            "validate_shape": validate_shape, "constraint": constraint, "use_resource": use_resource,
            "synchronization": synchronization, "aggregation": aggregation,
        }  # fmt: skip
        is_scalar = isinstance(shape, (list, tuple)) and not shape
        if partitioner is not None and not is_scalar:
            if not callable(partitioner):
                raise ValueError(f"Partitioner must be callable, but received: {partitioner}")
            with name_scope(None):
                return self.get_partitioned(name, partitioner, **options)
        if reuse is True and partitioner is None and name in self._partitioned:
            return self.get_partitioned(name, None, **options)
        if f"{name}/part_0" in self._variables:
            raise ValueError(
                "No partitioner was provided, but a partitioned version of the variable was found: "
                f"{name}/part_0. Perhaps a variable of the same name was already created with partitioning?"
            )
        return self._get_single(name, **options)

    # ---- Variables in one piece ---------------------------------------------------------------------------

    def _get_single(
        self, name, shape, dtype, initializer, regularizer, reuse, trainable, collections, caching_device,
        validate_shape, constraint, use_resource=None, partition_info=None, synchronization=None, aggregation=None,
    ):  # fmt: skip
        if shape is not None and initializer is not None and not callable(initializer):
            raise ValueError("If initializer is a constant, do not specify shape.")
        dtype = dtypes.as_dtype(dtype).base_dtype
        shape = TensorShape(shape)
        found = self._variables.get(name)
        if found is not None:
            _check_reused(name, found, shape, dtype, reuse)
            return found
        if reuse is True:
            raise ValueError(
                f"Variable {name} does not exist, or was not created with tf.get_variable(). Did you mean to set "
                "reuse=tf.AUTO_REUSE in VarScope?"
            )
        initial_value, dtype = _initial_value(name, shape, dtype, initializer, partition_info)
        if use_resource is None:
            use_resource = resource_variables_enabled()
        variable = Variable(
            initial_value, trainable, collections, validate_shape, caching_device, name, dtype=dtype,
            constraint=constraint, use_resource=use_resource,
            synchronization=synchronization, aggregation=aggregation,
        )  # fmt: skip
        if self.keeps_variables:
            self._variables[name] = variable
            variable_is_kept(variable, collections)
        if regularizer:
            _regularize(name, variable, regularizer)
        return variable

    # ---- Variables in parts -------------------------------------------------------------------------------

    def get_partitioned(self, name, partitioner, shape, dtype, initializer, reuse, **options):
        """A PartitionedVariable; `partitioner` None finds a known one."""
        if name in self._variables:
            raise ValueError(
                "A partitioner was provided, but an unpartitioned version of the variable was found: "
                f"{name}.  Perhaps a variable of the same name was already created without partitioning?"
            )
        shape = TensorShape(shape)
        if isinstance(initializer, Tensor):
            shape = shape.merge_with(initializer.shape)
        slicing = call_partitioner(partitioner, shape, dtype) if not reuse or partitioner else None
        found = self._partitioned.get(name)
        if found is not None:
            _check_reused_parts(name, found, shape, dtype, slicing, reuse)
            return found
        if reuse is True:
            raise ValueError(
                f"PartitionedVariable {name} does not exist, or was not created with tf.get_variable(). Did you "
                "mean to set reuse=False or reuse=tf.AUTO_REUSE in VarScope?"
            )
        parts = [
            self._get_part(name, i, shape.as_list(), offset, part_shape, dtype, initializer, reuse, options)
            for i, (offset, part_shape) in enumerate(slices(shape.as_list(), slicing))
        ]
        variable = PartitionedVariable(name, shape, dtype, parts, slicing)
        if self.keeps_variables:
            self._partitioned[name] = variable
        return variable

    def _get_part(self, name, index, full_shape, offset, shape, dtype, initializer, reuse, options):
        part_name = f"{name}/part_{index}"
        initial_shape = shape
        with name_scope(f"{part_name}/PartitionedInitializer"):
            if initializer is None:
                initializer = default_initializer(name, dtype)
            elif not callable(initializer):
                initializer = ops.slice(convert_to_tensor(initializer, dtype), offset, shape)
                dtype = initializer.dtype.base_dtype
                initial_shape = None
        with name_scope(None):
            variable = self._get_single(
                part_name, initial_shape, dtype, initializer, reuse=reuse,
                partition_info=PartitionInfo(full_shape, offset), **options,
            )  # fmt: skip
        variable._set_save_slice_info(SaveSliceInfo(name, full_shape, offset, shape))
        return variable


@by_mode
def variable_is_kept(variable, collections):
    """Does what remains to be done for a variable that a store keeps: here it is in its collections already."""


def _takes(function, parameter):
    """Whether a function accepts an argument of that name."""
    parameters = inspect.signature(function).parameters.values()
    return any(each.name == parameter or each.kind is each.VAR_KEYWORD for each in parameters)


def _check_reused(name, found, shape, dtype, reuse):
    if reuse is False:
        lines = [frame for frame in reversed(found.op.traceback) if "stillflow" not in frame[0]][:5]
        raise ValueError(
            f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in "
            f"VarScope? Originally defined at:\n\n{''.join(traceback.format_list(lines))}"
        )
    if not shape.is_compatible_with(found.shape):
        raise ValueError(
            f"Trying to share variable {name}, but specified shape {shape} and found shape {found.shape}."
        )
    if not dtype.is_compatible_with(found.dtype):
        raise ValueError(
            f"Trying to share variable {name}, but specified dtype {dtype.name} and found dtype {found.dtype.name}."
        )


def _check_reused_parts(name, found, shape, dtype, slicing, reuse):
    if reuse is False:
        raise ValueError(
            f"Partitioned variable with name {name} already exists. Did you mean to set reuse=True or "
            "reuse=tf.AUTO_REUSE in VarScope?"
        )
    for what, wanted, known, fits in (
        ("shape", shape, found.shape, shape.is_compatible_with(found.shape)),
        ("dtype", dtype.name, found.dtype.name, dtype.is_compatible_with(found.dtype)),
        ("partitions", slicing, found._get_partitions(), slicing in (None, found._get_partitions())),
    ):
        if not fits:
            raise ValueError(
                f"Trying to reuse partitioned variable {name}, but specified {what} {wanted} and found {what} "
                f"{known}."
            )


def default_initializer(name, dtype):
    if dtype.is_floating:
        return GlorotUniform()
    if dtype.is_integer or dtype.is_bool or dtype is dtypes.string:
        return Zeros()
    raise ValueError(f"An initializer for variable {name} of {dtype} is required")


def _initial_value(name, shape, dtype, initializer, partition_info):
    """What Variable takes as initial value and as dtype."""
    if initializer is None:
        initializer = default_initializer(name, dtype)
    if not callable(initializer):
        return initializer, None
    if inspect.isclass(initializer):
        initializer = initializer()
    if shape.is_fully_defined():
        return lambda: initializer(shape.as_list(), dtype=dtype, partition_info=partition_info), dtype
    if all(each.default is not each.empty for each in inspect.signature(initializer).parameters.values()):
        return initializer, None
    raise ValueError(
        "The initializer passed is not valid. It should be a callable with no arguments and the shape should not "
        "be provided or an instance of `tf.keras.initializers.*' and `shape` should be fully defined."
    )


def _regularize(name, variable, regularizer):
    graph = get_default_graph()
    with graph.colocate_with(variable), name_scope(f"{name}/Regularizer/"), graph.control_dependencies(None):
        loss = regularizer(variable)
    if loss is not None:
        graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
