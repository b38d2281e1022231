"""Loads an export with the signatures that a SavedModel has: tf.contrib.session_bundle.bundle_shim."""

from __future__ import annotations

from stillflow.contrib.session_bundle import constants
from stillflow.contrib.session_bundle.loading import load_session_bundle_from_path, maybe_session_bundle_dir
from stillflow.contrib.session_bundle.manifest import message
from stillflow.files import filesystem
from stillflow.formats import protobuf
from stillflow.names import public_module
from stillflow.saver.meta_graph import read_meta_graph_file
from stillflow.saver.saved_model import names
from stillflow.saver.saved_model.loader import load, maybe_saved_model_directory
from stillflow.session.session import Session
from stillflow.training_loop.messages import log

public_module("contrib.session_bundle.bundle_shim")


def _add_input_to_signature_def(tensor_name, map_key, signature_def):
    signature_def.inputs[map_key].CopyFrom(protobuf.message("TensorInfo")(name=tensor_name))


def _add_output_to_signature_def(tensor_name, map_key, signature_def):
    signature_def.outputs[map_key].CopyFrom(protobuf.message("TensorInfo")(name=tensor_name))


def _signature_def(method, inputs, outputs):
    """A SignatureDef of {name: name of a tensor}."""
    found = protobuf.message("SignatureDef")(method_name=method)
    for name, tensor in inputs.items():
        _add_input_to_signature_def(tensor, name, found)
    for name, tensor in outputs.items():
        _add_output_to_signature_def(tensor, name, found)
    return found


def _convert_default_signature_to_signature_def(signatures):
    """The SignatureDef of a default signature; None, with a message, if it says nothing but names."""
    signature = signatures.default_signature
    kind = signature.WhichOneof("type")
    if kind == constants.REGRESSION_SIGNATURE:
        given = signature.regression_signature
        inputs = {names.REGRESS_INPUTS: given.input.tensor_name}
        outputs = {names.REGRESS_OUTPUTS: given.output.tensor_name}
        return _signature_def(names.REGRESS_METHOD_NAME, inputs, outputs)
    if kind == constants.CLASSIFICATION_SIGNATURE:
        given = signature.classification_signature
        outputs = {
            names.CLASSIFY_OUTPUT_CLASSES: given.classes.tensor_name,
            names.CLASSIFY_OUTPUT_SCORES: given.scores.tensor_name,
        }
        inputs = {names.CLASSIFY_INPUTS: given.input.tensor_name}
        return _signature_def(names.CLASSIFY_METHOD_NAME, inputs, outputs)
    log().error(
        "Only classification and regression default signatures are supported for up-conversion. %s is not supported",
        kind,
    )
    return None


def _convert_named_signatures_to_signature_def(signatures):
    """The SignatureDef of the signatures "inputs" and "outputs". Raises RuntimeError if they do not give names."""
    inputs = signatures.named_signatures[names.PREDICT_INPUTS]
    outputs = signatures.named_signatures[names.PREDICT_OUTPUTS]
    kinds = [each.WhichOneof("type") for each in (inputs, outputs)]
    if kinds != [constants.GENERIC_SIGNATURE] * 2:
        raise RuntimeError(
            "Named input and output signatures can only be up-converted if they are generic signature. Input "
            f"signature type is {kinds[0]}, output signature type is {kinds[1]}"
        )
    given = [
        {name: binding.tensor_name for name, binding in each.generic_signature.map.items()}
        for each in (inputs, outputs)
    ]
    return _signature_def(names.PREDICT_METHOD_NAME, *given)


def _convert_signatures_to_signature_defs(metagraph_def):
    """(the SignatureDef of the default signature or None, that of the named ones or None)."""
    packed = metagraph_def.collection_def[constants.SIGNATURES_KEY].any_list.value[0]
    signatures = message("Signatures").FromString(packed.value)
    default = named = None
    if signatures.HasField("default_signature"):
        default = _convert_default_signature_to_signature_def(signatures)
    if len(signatures.named_signatures) > 1:
        named = _convert_named_signatures_to_signature_def(signatures)
    return default, named


def _load_saved_model_from_session_bundle_path(export_dir, target, config):
    """What load_session_bundle_from_path returns, with SignatureDefs in the MetaGraphDef.

    Raises RuntimeError if it has some already.
    """
    meta_graph = read_meta_graph_file(f"{export_dir}/{constants.META_GRAPH_DEF_FILENAME}")
    if meta_graph.signature_def:
        raise RuntimeError("Legacy graph contains signature def, unable to up-convert.")
    default, named = _convert_signatures_to_signature_defs(meta_graph)
    key = names.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    if default:
        meta_graph.signature_def[key].CopyFrom(default)
        key += "_from_named"
    if named:
        meta_graph.signature_def[key].CopyFrom(named)
    return load_session_bundle_from_path(export_dir, target, config, meta_graph_def=meta_graph)


def load_session_bundle_or_saved_model_bundle_from_path(export_dir, tags=None, target="", config=None):
    """(a session with a model of either kind, its MetaGraphDef with SignatureDefs).

    Args:
      export_dir: the folder of an export or a SavedModel.
      tags: of the SavedModel's graph.
      target, config: of the session.

    Raises RuntimeError for a folder with neither.
    """
    export_dir = filesystem.path_text(export_dir)
    if maybe_saved_model_directory(export_dir):
        session = Session(target, graph=None, config=config)
        return session, load(session, tags, export_dir)
    if maybe_session_bundle_dir(export_dir):
        return _load_saved_model_from_session_bundle_path(export_dir, target, config)
    raise RuntimeError(f"SessionBundle or SavedModelBundle not found at specified export location: {export_dir}")
