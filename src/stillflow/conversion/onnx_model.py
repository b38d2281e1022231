"""A frozen graph of TensorFlow as an ONNX model."""

from __future__ import annotations

import importlib

import numpy as np

from stillflow.conversion import onnx_graph
from stillflow.conversion.onnx_graph import OnnxGraph, converter, converts, onnx_type
from stillflow.graph import dtypes
from stillflow.graph.shape_inference import constant_value
from stillflow.inspection.sources import InputError
from stillflow.session.session import Session

_SIZES = ("Shape", "ShapeN", "Size", "Rank")
_DROPPED = ("NoOp", "Assert", "Placeholder")


def onnx_library():
    """The module onnx. Raises InputError if it is not installed."""
    try:
        import onnx  # type: ignore[import-not-found,unused-ignore]
        import onnx.checker
        import onnx.helper
        import onnx.numpy_helper
    except ImportError:
        raise InputError("ONNX needs the extra 'onnx': pip install stillflow[onnx]") from None
    return onnx


def onnx_model(frozen):
    """The ModelProto of a Frozen model, checked.

    Its inputs and outputs are called as the model's are. Operations that do not depend on inputs are computed here.

    Raises InputError for an operation that has no counterpart, naming it.
    """
    library = onnx_library()
    for module in ("arithmetic", "arrays", "images", "reductions", "windows"):
        importlib.import_module(f"stillflow.conversion.onnx_operations.{module}")
    operations = _needed(frozen)
    fed = set(frozen.inputs.values())
    dependent = _dependent(operations, fed)
    made = OnnxGraph(library, _constants(frozen, operations, dependent))
    inputs = []
    for name, tensor in frozen.inputs.items():
        made.bind(tensor, made.fresh(name))
        inputs.append(_value_info(library, made.name(tensor), tensor))
    absorbed, made.dilated = _dilations(operations, dependent)
    for operation in operations:
        if operation in dependent and operation not in absorbed:
            _convert(made, operation)
    outputs = []
    for name, tensor in frozen.outputs.items():
        own = made.fresh(name)
        made.nodes.append(library.helper.make_node("Identity", [made.name(tensor)], [own], own))
        outputs.append(_value_info(library, own, tensor))
    graph = library.helper.make_graph(made.nodes, "stillflow", inputs, outputs, made.initializers)
    opset = library.helper.make_opsetid("", onnx_graph.OPSET)
    model = library.helper.make_model(
        graph, producer_name="stillflow", opset_imports=[opset], ir_version=onnx_graph.IR_VERSION
    )
    library.checker.check_model(model)
    return model


def _convert(made, operation):
    if operation.type in _DROPPED or not operation.outputs:
        return
    function = converter(operation.type)
    if function is None:
        raise InputError(f"{operation.name}: there is no counterpart of {operation.type} in ONNX here.")
    found = function(made, operation)
    for tensor, name in zip(operation.outputs, [found] if isinstance(found, str) else found, strict=False):
        made.bind(tensor, name)


def _needed(frozen):
    """The operations that outputs need, but for those that are fed, each after those that it needs itself."""
    found: dict = {}
    fed = set(frozen.inputs.values())
    stack = [tensor.op for tensor in frozen.outputs.values() if tensor not in fed]
    while stack:
        operation = stack[-1]
        if operation.type in ("Merge", "Enter", "NextIteration", "Switch"):
            raise InputError(f"{operation.name}: there is no counterpart of loops and conditions in ONNX here.")
        missing = [tensor.op for tensor in operation.inputs if tensor not in fed and tensor.op not in found]
        if missing:
            stack.extend(missing)
        else:
            found[stack.pop()] = None
    return list(found)


def _dependent(operations, fed):
    """The operations whose outputs are known only when the graph runs."""
    found = set()
    for operation in operations:
        depends = any(tensor in fed or tensor.op in found for tensor in operation.inputs)
        if operation.type == "Placeholder":
            raise InputError(f"{operation.name} is not among the inputs.")
        if depends and _known_sizes(operation) is None:
            found.add(operation)
        elif _is_random(operation):
            raise InputError(f"{operation.name}: {operation.type} is random, which a converted model cannot be.")
    return found


def _is_random(operation):
    return operation.type.startswith(("Random", "TruncatedNormal", "Multinomial", "StatelessRandom", "Parameterized"))


def _constants(frozen, operations, dependent):
    """{tensor: array} of what operations and outputs take that does not depend on inputs."""
    wanted = {tensor for operation in operations if operation in dependent for tensor in operation.inputs}
    wanted |= set(frozen.outputs.values())
    fed = set(frozen.inputs.values())
    fetched = [tensor for tensor in wanted if tensor not in fed and tensor.op not in dependent]
    sizes: dict = {}
    for operation in operations:
        if operation not in dependent:
            sizes.update(_known_sizes(operation) or {})
    with Session(graph=frozen.graph) as session:
        values = session.run(fetched, sizes) if fetched else []
    return {tensor: np.asarray(value) for tensor, value in zip(fetched, values, strict=True)}


def _known_sizes(operation):
    """{output: array} of an operation that says how large tensors are, where that is known; else None."""
    if operation.type == "StridedSlice":
        return _known_size(operation)
    if operation.type not in _SIZES or not all(tensor.shape.is_fully_defined() for tensor in operation.inputs):
        return None
    found = {}
    for output, tensor in zip(operation.outputs, operation.inputs, strict=True):
        dims = tensor.shape.as_list()
        value = {"Size": int(np.prod(dims)), "Rank": len(dims)}.get(operation.type, dims)
        found[output] = np.array(value, output.dtype.as_numpy_dtype)
    return found


def _known_size(operation):
    """As _known_sizes, of shape[index]: that one size may be known where others are not."""
    shape, bound = operation.inputs[0].op, constant_value(operation.inputs[1])
    if shape.type != "Shape" or bound is None or np.size(bound) != 1 or operation.get_attr("shrink_axis_mask") != 1:
        return None
    dims = shape.inputs[0].shape
    index = int(np.ravel(bound)[0])
    if dims.ndims is None or not -dims.ndims <= index < dims.ndims or dims.as_list()[index] is None:
        return None
    output = operation.outputs[0]
    return {output: np.array(dims.as_list()[index], output.dtype.as_numpy_dtype)}


def _value_info(library, name, tensor):
    dims = tensor.shape.as_list() if tensor.shape.ndims is not None else None
    if dims is not None:
        dims = [f"{name}_{axis}" if size is None else size for axis, size in enumerate(dims)]
    return library.helper.make_tensor_value_info(name, onnx_type(tensor.dtype), dims)


# ---- Dilated convolutions, which TensorFlow 1 builds of three operations ------------------------------------------


def _dilations(operations, dependent):
    """The operations of dilated convolutions that their ends take care of, and these ends, BatchToSpaceNDs."""
    found, ends = set(), set()
    users: dict = {}
    for operation in operations:
        for tensor in operation.inputs:
            users.setdefault(tensor, []).append(operation)
    for operation in operations:
        parts = dilated_parts(operation)
        if parts and operation in dependent and all(len(users[part.outputs[0]]) == 1 for part in parts):
            found.update(parts)
            ends.add(operation)
    return found, ends


def dilated_parts(operation):
    """(convolution, SpaceToBatchND) before a BatchToSpaceND, or None."""
    if operation.type != "BatchToSpaceND":
        return None
    convolution = operation.inputs[0].op
    if convolution.type not in ("Conv2D", "DepthwiseConv2dNative") or convolution.get_attr("padding") != b"VALID":
        return None
    spread = convolution.inputs[0].op
    return (convolution, spread) if spread.type == "SpaceToBatchND" else None


@converts(
    "Identity", "StopGradient", "PreventGradient", "CheckNumerics", "Snapshot", "PlaceholderWithDefault", "IdentityN"
)
def _identity(made, operation):
    return made.inputs(operation)


@converts("Cast")
def _cast(made, operation):
    source, target = operation.inputs[0].dtype, operation.outputs[0].dtype
    if dtypes.string in (source, target):
        raise InputError(f"{operation.name}: ONNX does not cast strings.")
    return made.cast(made.input(operation, 0), target)
