"""Signatures: which tensors of a graph are the inputs and outputs of what it computes, as messages."""

from __future__ import annotations

from stillflow.errors import NotFoundError
from stillflow.formats import protobuf
from stillflow.graph import dtypes, nest
from stillflow.graph.composite_tensor import CompositeTensor
from stillflow.graph.default_graph import get_default_graph, require_graph
from stillflow.graph.inner_functions import prepend_name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.structure_coder import StructureCoder
from stillflow.names import public
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.ragged import tensor as _ragged  # noqa: F401, its specification stands in messages
from stillflow.saver.saved_model import names

_FLOAT, _STRING = dtypes.float32.as_datatype_enum, dtypes.string.as_datatype_enum


@public("saved_model.build_tensor_info", "saved_model.utils.build_tensor_info")
def build_tensor_info(tensor):
    """The TensorInfo message of a tensor, variable or composite tensor: names in the graph, type and shape.

    Raises RuntimeError in eager execution.
    """
    require_graph("build_tensor_info is not supported in Eager mode.")
    if isinstance(tensor, CompositeTensor) and not isinstance(tensor, SparseTensor):
        return _composite_info(tensor)
    info = protobuf.message("TensorInfo")(
        dtype=dtypes.as_dtype(tensor.dtype).as_datatype_enum, tensor_shape=tensor.get_shape().as_proto()
    )
    if isinstance(tensor, SparseTensor):
        info.coo_sparse.values_tensor_name = tensor.values.name
        info.coo_sparse.indices_tensor_name = tensor.indices.name
        info.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        info.name = tensor.name
    return info


def _composite_info(tensor):
    info = protobuf.message("TensorInfo")()
    described = StructureCoder().encode_structure(tensor._type_spec)
    info.composite_tensor.type_spec.CopyFrom(described.type_spec_value)
    info.composite_tensor.components.extend(
        build_tensor_info(component) for component in nest.flatten(tensor, expand_composites=True)
    )
    return info


@public(
    "python.saved_model.utils.build_tensor_info_from_op", "python.saved_model.utils_impl.build_tensor_info_from_op"
)
def build_tensor_info_from_op(op):
    """A TensorInfo message that names an operation, which has neither type nor shape."""
    return protobuf.message("TensorInfo")(
        dtype=0,
        tensor_shape=protobuf.message("TensorShapeProto")(unknown_rank=True),
        name=op.name,
    )


@public(
    "python.saved_model.utils.get_element_from_tensor_info",
    "python.saved_model.utils_impl.get_element_from_tensor_info",
)
def get_element_from_tensor_info(tensor_info, graph=None, import_scope=None):
    """The operation or tensor that a TensorInfo message names; arguments are those of `get_tensor_from_tensor_info`.

    Raises:
      KeyError: if the graph has none of that name.
    """
    return (graph or get_default_graph()).as_graph_element(prepend_name_scope(tensor_info.name, import_scope))


@public("saved_model.get_tensor_from_tensor_info", "saved_model.utils.get_tensor_from_tensor_info")
def get_tensor_from_tensor_info(tensor_info, graph=None, import_scope=None):
    """The tensor, or composite tensor, that a TensorInfo message means.

    Args:
      tensor_info: the message.
      graph: where to look; by default in the default graph.
      import_scope: a name scope that the tensors have been imported in.

    Raises:
      KeyError: if the graph has no such tensor.
      ValueError: if the message names none.
    """
    graph = graph or get_default_graph()

    def find(name):
        return graph.get_tensor_by_name(prepend_name_scope(name, import_scope))

    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "name":
        return find(tensor_info.name)
    if encoding == "coo_sparse":
        sparse = tensor_info.coo_sparse
        return SparseTensor(
            find(sparse.indices_tensor_name), find(sparse.values_tensor_name), find(sparse.dense_shape_tensor_name)
        )
    if encoding == "composite_tensor":
        described = protobuf.message("StructuredValue")(type_spec_value=tensor_info.composite_tensor.type_spec)
        spec = StructureCoder().decode_proto(described)
        components = [find(component.name) for component in tensor_info.composite_tensor.components]
        return spec._from_components(nest.pack_sequence_as(spec._component_specs, components, expand_composites=True))
    raise ValueError(f"Invalid TensorInfo.encoding: {encoding}")


@public("saved_model.build_signature_def", "saved_model.signature_def_utils.build_signature_def")
def build_signature_def(inputs=None, outputs=None, method_name=None):
    """A SignatureDef message.

    Args:
      inputs, outputs: TensorInfo messages by the names that callers use.
      method_name: what a server offers the computation as.
    """
    signature = protobuf.message("SignatureDef")()
    for infos, field in ((inputs, signature.inputs), (outputs, signature.outputs)):
        for name in infos or ():
            field[name].CopyFrom(infos[name])
    if method_name is not None:
        signature.method_name = method_name
    return signature


def _info_of(tensor, dtype, error):
    info = build_tensor_info(tensor)
    if info.dtype != dtype:
        raise ValueError(error)
    return info


def _examples_of(examples, kind):
    if examples is None:
        raise ValueError(f"{kind} examples cannot be None.")
    error = f"{kind} examples must be a string Tensor."
    if not isinstance(examples, Tensor):
        raise ValueError(error)
    return _info_of(examples, _STRING, error)


@public("saved_model.regression_signature_def", "saved_model.signature_def_utils.regression_signature_def")
def regression_signature_def(examples, predictions):
    """The signature of a regression, from serialized Examples to numbers.

    Args:
      examples: a string tensor.
      predictions: a float32 tensor.

    Raises ValueError for None and for other types.
    """
    inputs = {names.REGRESS_INPUTS: _examples_of(examples, "Regression")}
    if predictions is None:
        raise ValueError("Regression predictions cannot be None.")
    found = _info_of(predictions, _FLOAT, "Regression output must be a float Tensor.")
    return build_signature_def(inputs, {names.REGRESS_OUTPUTS: found}, names.REGRESS_METHOD_NAME)


@public("saved_model.classification_signature_def", "saved_model.signature_def_utils.classification_signature_def")
def classification_signature_def(examples, classes, scores):
    """The signature of a classification of serialized Examples.

    Args:
      examples: a string tensor.
      classes: a string tensor, or None.
      scores: a float32 tensor, or None.

    Raises ValueError if `examples` or both of the others are None, and for other types.
    """
    inputs = {names.CLASSIFY_INPUTS: _examples_of(examples, "Classification")}
    if classes is None and scores is None:
        raise ValueError("Classification classes and scores cannot both be None.")
    outputs = {}
    if classes is not None:
        error = "Classification classes must be a string Tensor."
        outputs[names.CLASSIFY_OUTPUT_CLASSES] = _info_of(classes, _STRING, error)
    if scores is not None:
        error = "Classification scores must be a float Tensor."
        outputs[names.CLASSIFY_OUTPUT_SCORES] = _info_of(scores, _FLOAT, error)
    return build_signature_def(inputs, outputs, names.CLASSIFY_METHOD_NAME)


@public("saved_model.predict_signature_def", "saved_model.signature_def_utils.predict_signature_def")
def predict_signature_def(inputs, outputs):
    """The signature of any computation.

    Args:
      inputs, outputs: tensors by the names that callers use.

    Raises ValueError if there are none.
    """
    if not inputs:
        raise ValueError("Prediction inputs cannot be None or empty.")
    if not outputs:
        raise ValueError("Prediction outputs cannot be None or empty.")
    return build_signature_def(
        {name: build_tensor_info(tensor) for name, tensor in inputs.items()},
        {name: build_tensor_info(tensor) for name, tensor in outputs.items()},
        names.PREDICT_METHOD_NAME,
    )


@public(
    "python.saved_model.signature_def_utils.supervised_train_signature_def",
    "python.saved_model.signature_def_utils_impl.supervised_train_signature_def",
)
def supervised_train_signature_def(inputs, loss, predictions=None, metrics=None):
    """The signature of training.

    Args:
      inputs: tensors by the names that callers use.
      loss, predictions, metrics: the outputs, likewise, or None.

    Raises ValueError if there are no inputs.
    """
    return _supervised(names.SUPERVISED_TRAIN_METHOD_NAME, inputs, (loss, predictions, metrics))


@public(
    "python.saved_model.signature_def_utils.supervised_eval_signature_def",
    "python.saved_model.signature_def_utils_impl.supervised_eval_signature_def",
)
def supervised_eval_signature_def(inputs, loss, predictions=None, metrics=None):
    """The signature of evaluation; as that of training."""
    return _supervised(names.SUPERVISED_EVAL_METHOD_NAME, inputs, (loss, predictions, metrics))


def _supervised(method, inputs, groups):
    if not inputs:
        raise ValueError(f"{method} inputs cannot be None or empty.")
    outputs = {name: build_tensor_info(tensor) for group in groups for name, tensor in (group or {}).items()}
    return build_signature_def({name: build_tensor_info(inputs[name]) for name in inputs}, outputs, method)


@public("saved_model.is_valid_signature", "saved_model.signature_def_utils.is_valid_signature")
def is_valid_signature(signature_def):
    """Whether servers can offer a signature: its method is one of three, and its tensors have the types of that."""
    if signature_def is None:
        return False
    inputs = {name: info.dtype for name, info in signature_def.inputs.items()}
    outputs = {name: info.dtype for name, info in signature_def.outputs.items()}
    method = signature_def.method_name
    if method == names.PREDICT_METHOD_NAME:
        return bool(inputs and outputs)
    if method == names.REGRESS_METHOD_NAME:
        return inputs == {names.REGRESS_INPUTS: _STRING} and outputs == {names.REGRESS_OUTPUTS: _FLOAT}
    if method == names.CLASSIFY_METHOD_NAME:
        allowed = {names.CLASSIFY_OUTPUT_CLASSES: _STRING, names.CLASSIFY_OUTPUT_SCORES: _FLOAT}
        return inputs == {names.CLASSIFY_INPUTS: _STRING} and bool(outputs) and outputs.items() <= allowed.items()
    return False


@public(
    "python.saved_model.signature_def_utils.op_signature_def",
    "python.saved_model.signature_def_utils_impl.op_signature_def",
)
def op_signature_def(op, key):
    """A SignatureDef message whose one output is an operation, under the name `key`."""
    info = build_tensor_info(op) if isinstance(op, Tensor) else build_tensor_info_from_op(op)
    return build_signature_def(outputs={key: info})


@public(
    "python.saved_model.signature_def_utils.load_op_from_signature_def",
    "python.saved_model.signature_def_utils_impl.load_op_from_signature_def",
)
def load_op_from_signature_def(signature_def, key, import_scope=None):
    """The operation that a signature of `op_signature_def` means. Raises NotFoundError if the graph lacks it."""
    try:
        return get_element_from_tensor_info(signature_def.outputs[key], import_scope=import_scope)
    except KeyError:
        raise NotFoundError(
            None,
            None,
            f"The {key} could not be found in the graph. Please make sure the SavedModel was created by the internal "
            "_SavedModelBuilder. If you are using the public API, please make sure the SignatureDef in the "
            f'SavedModel does not contain the key "{key}".',
        ) from None
