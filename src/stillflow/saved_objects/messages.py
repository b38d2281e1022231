"""The SavedObjectGraph message: what a SavedModel says of each object and function."""

from __future__ import annotations

from stillflow.formats import protobuf
from stillflow.graph.structure_coder import StructureCoder
from stillflow.resources.trackable import CapturableResource, TrackableAsset
from stillflow.saved_objects.view import concrete_functions_of
from stillflow.traced_functions.arguments import convert_structure_to_signature
from stillflow.traced_functions.concrete import ConcreteFunction
from stillflow.traced_functions.function import Function
from stillflow.tracking import revived_types
from stillflow.variables.resource_variable import is_resource_variable

_coder = StructureCoder()


class CapturedConstant:
    """A tensor from outside that functions use, and the constant that it is in the SavedModel's graph."""

    def __init__(self, tensor, constant):
        self.tensor = tensor
        self.constant = constant


def object_graph_message(view, asset_numbers):
    """The SavedObjectGraph message of a SavedView.

    Args:
      view: the SavedView, whose `captured` is complete.
      asset_numbers: {TrackableAsset: the position of its file among the assets}.

    Raises:
      KeyError: for a function that captures what belongs to none of the objects.
      NotEncodableError: for a function with default arguments or a signature that no message can be made of.
    """
    proto = protobuf.message("SavedObjectGraph")()
    view.fill(proto)
    for concrete in view.concrete_functions:
        _fill_concrete_function(proto.concrete_functions[concrete.name], concrete, view.captured)
    for value, node in zip(view.nodes, proto.nodes, strict=True):
        _fill_node(node, value, asset_numbers)
    return proto


def _fill_node(proto, value, asset_numbers):
    if isinstance(value, TrackableAsset):
        proto.asset.asset_file_def_index = asset_numbers[value]
        proto.asset.SetInParent()
    elif is_resource_variable(value):
        _fill_variable(proto.variable, value)
    elif isinstance(value, Function):
        _fill_function(proto.function, value)
    elif isinstance(value, ConcreteFunction):
        function = proto.bare_concrete_function
        function.concrete_function_name = value.name
        function.allowed_positional_arguments = value._num_positional_args or 0
        function.argument_keywords.extend(value._arg_keywords or ())
    elif isinstance(value, CapturedConstant):
        proto.constant.operation = value.constant.op.name
    elif isinstance(value, CapturableResource):
        proto.resource.device = value._resource_device
        proto.resource.SetInParent()
    else:
        _fill_user_object(proto.user_object, value)


def _fill_variable(proto, variable):
    if not variable.name.endswith(":0"):
        raise ValueError(
            f"Cowardly refusing to save variable {variable.name} because of unexpected suffix which won't be "
            "restored."
        )
    proto.name = variable.name.removesuffix(":0")
    proto.trainable = bool(variable.trainable)
    proto.dtype = variable.dtype.as_datatype_enum
    proto.synchronization = variable.synchronization.value
    proto.aggregation = variable.aggregation.value
    proto.shape.CopyFrom(variable.shape.as_proto())


def _fill_user_object(proto, value):
    known = revived_types.serialize(value)
    if known is not None:
        proto.CopyFrom(known)
        return
    proto.identifier = value._object_identifier
    proto.version.producer = proto.version.min_consumer = 1
    proto.metadata = value._tracking_metadata


def _fill_function(proto, traced):
    spec = traced.function_spec
    if spec.is_method and not spec.fullargspec.args:
        raise NotImplementedError("Missing support to serialize a method function without a named 'self' argument.")
    proto.function_spec.fullargspec.CopyFrom(_coder.encode_structure(spec.fullargspec))
    proto.function_spec.is_method = spec.is_method
    proto.function_spec.input_signature.CopyFrom(_coder.encode_structure(spec.input_signature))
    proto.concrete_functions.extend(concrete.name for concrete in concrete_functions_of(traced))


def _fill_concrete_function(proto, concrete, captured):
    for tensor in concrete.captured_inputs:
        if tensor not in captured:
            raise KeyError(
                f"Failed to add concrete function {concrete.name} to object based saved model as it captures tensor "
                f"{tensor} which is unsupported or not reachable from root. One reason could be that a stateful "
                "object or a variable that the function depends on is not assigned to an attribute of the serialized "
                "trackable object (see SaveTest.test_captures_unreachable_variable)."
            )
        proto.bound_inputs.append(captured[tensor])
    outputs = convert_structure_to_signature(concrete.structured_outputs)
    proto.canonicalized_input_signature.CopyFrom(_coder.encode_structure(concrete.structured_input_signature))
    proto.output_signature.CopyFrom(_coder.encode_structure(outputs))
