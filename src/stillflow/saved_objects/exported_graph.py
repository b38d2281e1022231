"""The graph of a SavedModel of objects, with which sessions and servers run its signatures.

It has copies of the variables and other resources; the functions are called with these.
"""

from __future__ import annotations

from stillflow import ops
from stillflow.formats import protobuf
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.graph import Graph
from stillflow.graph.operation import Tensor
from stillflow.graph.shape_inference import constant_value
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.ops.convert import convert_to_tensor
from stillflow.platform.compat import as_str
from stillflow.resources.trackable import CapturableResource, TrackableAsset
from stillflow.saved_objects.messages import CapturedConstant
from stillflow.saver.meta_graph import create_meta_graph_def
from stillflow.saver.objects import sharded
from stillflow.saver.objects.object_graph import saveables_with_graph
from stillflow.saver.saved_model import assets, names
from stillflow.saver.saved_model.signatures import build_signature_def, build_tensor_info, op_signature_def
from stillflow.traced_functions.function import function
from stillflow.variables.resource_variable import ResourceVariable, is_resource_variable
from stillflow.variables.uninitialized import copy_to_graph_uninitialized

_UNCOPIABLE = (dtypes.resource, dtypes.variant)


class ExportedGraph:
    """The graph of a SavedView, and what it needs besides.

    Args:
      view: the SavedView; its `captured` is filled, and captured constants are added to its nodes.
      signatures: {name: ConcreteFunction}.

    Raises:
      AssertionError: for a signature that captures what belongs to none of the objects.
      ValueError: for a function that captures a tensor of a graph that is no constant.
    """

    def __init__(self, view, signatures):
        self._view = view
        self._signatures = signatures
        self._graph = Graph()
        self._stands_for: dict = {}  # id of a variable -> its copy
        self._inside: dict = {}  # tensor outside -> what functions are called with
        self._asset_initializers: dict = {}  # tensor of a path -> operation
        self._asset_defs: list = []
        self.asset_sources: dict = {}  # name in the SavedModel -> path
        self.asset_numbers: dict = {}  # TrackableAsset -> its position among the assets

    def meta_graph(self):
        """The MetaGraphDef message."""
        initializers = _traced_initializers(self._view.nodes)
        with self._graph.as_default():
            for number, value in enumerate(list(self._view.nodes)):
                self._add_object(number, value)
            self._add_constants()
            init_op = self._add_initialization(initializers)
            saver_def = _saver_def(saveables_with_graph(self._view.objects, self._stands_for))
            signature_defs = {
                key: self._signature_def(key, traced) for key, traced in sorted(self._signatures.items())
            }
            for concrete in self._view.concrete_functions:
                concrete.add_to_graph()
            info = protobuf.message("MetaGraphDef.MetaInfoDef")(tags=[names.SERVING])
            found = create_meta_graph_def(info, None, saver_def, [], self._graph, strip_default_attrs=True)
        found.collection_def[names.MAIN_OP_KEY].node_list.value.append(init_op.name)
        signature_defs[names.INIT_OP_SIGNATURE_KEY] = op_signature_def(init_op, names.INIT_OP_SIGNATURE_KEY)
        for key, signature in signature_defs.items():
            found.signature_def[key].CopyFrom(signature)
        found.asset_file_def.extend(self._asset_defs)
        return found

    # ---- Copies ---------------------------------------------------------------------------------------------

    def _add_object(self, number, value):
        """Adds the copy of an object that functions may capture."""
        if isinstance(value, CapturableResource):
            outside = value.resource_handle
            with self._graph.device(value._resource_device):
                inside = value._create_resource()
        elif is_resource_variable(value):
            outside, copied = value.handle, copy_to_graph_uninitialized(value)
            self._stands_for[id(value)], inside = copied, copied.handle
        elif isinstance(value, TrackableAsset):
            outside, inside = value.asset_path, self._add_asset(value)
        else:
            return
        if outside is not None:
            self._inside[outside] = inside
            self._view.captured[outside] = number

    def _add_asset(self, asset):
        """The variable of an asset's path, which whoever loads the graph feeds to its initializer."""
        tensor = asset.asset_path
        path = as_str(constant_value(tensor).item())
        name = assets.name_of(path, self.asset_sources)
        placeholder = ops.placeholder(dtypes.string, tensor.shape, name="asset_path_initializer")
        variable = ResourceVariable(placeholder)
        self.asset_sources[name] = path
        asset_def = protobuf.message("AssetFileDef")(filename=name)
        asset_def.tensor_info.name = placeholder.name
        self.asset_numbers[asset] = len(self._asset_defs)
        self._asset_defs.append(asset_def)
        self._asset_initializers[tensor] = variable.initializer
        return variable

    def _add_constants(self):
        """Adds constants for the other tensors that functions capture."""
        for concrete in self._view.concrete_functions:
            for tensor in concrete.captured_inputs:
                if not isinstance(tensor, Tensor) or tensor.dtype in _UNCOPIABLE or tensor in self._view.captured:
                    continue
                value = constant_value(tensor)
                if value is None:
                    raise ValueError(
                        f"Attempted to save a function {concrete.name} which references a symbolic Tensor {tensor} "
                        "that is not a simple constant. This is not supported."
                    )
                constant = ops.constant(value, tensor.dtype)
                self._view.captured[tensor] = self._view.add_node(CapturedConstant(tensor, constant))
                self._inside[tensor] = constant

    # ---- Calls ----------------------------------------------------------------------------------------------

    def _call(self, concrete, arguments=()):
        captured = []
        for outside, inside in concrete.graph.captures:
            if outside not in self._inside:
                raise AssertionError(
                    f"Tried to export a function which references untracked object {inside}."
                    "TensorFlow objects (e.g. tf.Variable) captured by functions must be tracked by assigning them "
                    "to an attribute of a tracked object or assigned to an attribute of the main object directly."
                )
            captured.append(convert_to_tensor(self._inside[outside]))
        return concrete._call_flat(list(arguments), captured)

    def _add_initialization(self, initializers):
        """The operation that fills the resources, after the paths of the files that they are filled from are set."""
        graph = get_default_graph()
        done = []
        for initializer in initializers:
            paths = initializer.graph.external_captures
            with graph.control_dependencies(
                [self._asset_initializers[t] for t in paths if t in self._asset_initializers]
            ):
                done.append(self._call(initializer))
        done.extend(self._asset_initializers.values())
        with graph.control_dependencies(done):
            return ops.no_op()

    def _signature_def(self, key, concrete):
        """The SignatureDef message of a call with placeholders."""
        captured = set(concrete.graph.internal_captures)
        inputs = {}
        for argument in concrete.graph.inputs:
            if argument in captured:
                continue
            name = argument.op._attrs["_user_specified_name"].decode()
            if name != argument.op.name:
                raise ValueError(
                    f"Got non-flat/non-unique argument names for SavedModel signature '{key}': more than one "
                    f"argument to '{as_str(concrete.name)}' was named '{name}'. Signatures have one Tensor per named "
                    "input, so to have predictable names Python functions used to generate these signatures should "
                    "avoid *args and Tensors in nested structures unless unique names are specified for each. Use "
                    "tf.TensorSpec(..., name=...) to provide a name for a Tensor input."
                )
            inputs[name] = ops.placeholder(argument.dtype, argument.shape, name=f"{key}_{name}")
        outputs = self._call(concrete, inputs.values())
        infos = [{name: build_tensor_info(tensor) for name, tensor in part.items()} for part in (inputs, outputs)]
        return build_signature_def(*infos, method_name=names.PREDICT_METHOD_NAME)


def _traced_initializers(nodes):
    """A ConcreteFunction for each resource that fills it."""

    def traced(resource):
        def initialize():
            resource._initialize()
            return ops.constant(1.0)

        return function(initialize, input_signature=[]).get_concrete_function()

    return [traced(value) for value in nodes if isinstance(value, CapturableResource)]


def _saver_def(saveables):
    """Adds functions that save and restore, and calls of them; returns the SaverDef message that names them."""
    signature = (TensorSpec((), dtypes.string),)

    @function(input_signature=signature, autograph=False)
    def _traced_save(file_prefix):
        graph = get_default_graph()
        merge = sharded.add_save(file_prefix, saveables)
        with graph.device("cpu:0"), graph.control_dependencies([merge]):
            return ops.identity(file_prefix)

    @function(input_signature=signature, autograph=False)
    def _traced_restore(file_prefix):
        graph = get_default_graph()
        restored = sharded.add_restore(file_prefix, [(saveable.name, saveable) for saveable in saveables])
        with graph.device("cpu:0"), graph.control_dependencies([operation for _, operation in restored]):
            return ops.identity(file_prefix)

    filename = ops.placeholder(dtypes.string, [], name="saver_filename")
    saved = _traced_save(filename)
    restored = _traced_restore(filename)
    return protobuf.message("SaverDef")(
        filename_tensor_name=filename.name,
        save_tensor_name=saved.name,
        restore_op_name=restored.op.name,
        version="V2",
    )
