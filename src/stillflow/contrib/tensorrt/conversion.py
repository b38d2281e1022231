"""tf.contrib.tensorrt, as TensorFlow 1.15 without TensorRT has it: no part of a graph becomes one of its engines."""

from __future__ import annotations

from stillflow.formats import protobuf
from stillflow.graph.graph import Graph
from stillflow.importer.graph_util import convert_variables_to_constants
from stillflow.importer.import_graph_def import import_graph_def
from stillflow.names import public
from stillflow.saver.saved_model.builder import SavedModelBuilder
from stillflow.saver.saved_model.loader import load
from stillflow.session.session import Session

_MODES = ("FP32", "FP16", "INT8")
_SIGNATURE = "serving_default"


@public("contrib.tensorrt.create_inference_graph", "python.compiler.tensorrt.trt_convert.create_inference_graph")
def create_inference_graph(
    input_graph_def, outputs, max_batch_size=1, max_workspace_size_bytes=1 << 30, precision_mode="FP32",
    minimum_segment_size=3, is_dynamic_op=False, maximum_cached_engines=1, input_saved_model_dir=None,
    input_saved_model_tags=None, output_saved_model_dir=None, session_config=None,
):  # fmt: skip
    """The GraphDef of a model, in which TensorRT would run what it can: here all nodes stay what they are.

    Args:
      input_graph_def: a GraphDef, or None if there is a SavedModel.
      outputs: the names of its results, for a GraphDef.
      input_saved_model_dir, input_saved_model_tags: a SavedModel, whose variables become constants, and the tags of
        its graph, ["serve"] by default. The results are those of its signature "serving_default".
      output_saved_model_dir: where the model is written to as a SavedModel, if one was read.
      session_config: a ConfigProto for the session that reads the SavedModel.
      precision_mode: "FP32", "FP16" or "INT8", of TensorRT as are the other arguments.

    Raises:
      ValueError: for another mode, and unless there is either a GraphDef or a SavedModel.
      OSError, RuntimeError: as tf.saved_model.load.
    """
    if str(precision_mode).upper() not in _MODES:
        raise ValueError(f"precision mode '{precision_mode}' is not supported.It should be one of {list(_MODES)}")
    if input_graph_def and input_saved_model_dir:
        raise ValueError("Can only specify one of input_graph_def and input_saved_model_dir")
    if input_saved_model_dir:
        tags = input_saved_model_tags or ["serve"]
        return _frozen_model(input_saved_model_dir, tags, output_saved_model_dir, session_config)
    if not input_graph_def:
        raise ValueError("Must specify one of input_graph_def and input_saved_model_dir")
    return protobuf.message("GraphDef").FromString(input_graph_def.SerializeToString())


def _frozen_model(path, tags, target, config):
    with Graph().as_default() as graph, Session(graph=graph, config=config) as session:
        signature = load(session, tags, path).signature_def[_SIGNATURE]
        ends = [*signature.inputs.values(), *signature.outputs.values()]
        names = sorted({end.name.partition(":")[0] for end in ends})
        graph_def = convert_variables_to_constants(session, graph.as_graph_def(), names)
    if target:
        with Graph().as_default() as graph, Session(graph=graph, config=config) as session:
            import_graph_def(graph_def, name="")
            builder = SavedModelBuilder(target)
            builder.add_meta_graph_and_variables(session, tags, signature_def_map={_SIGNATURE: signature})
            builder.save()
    return graph_def
