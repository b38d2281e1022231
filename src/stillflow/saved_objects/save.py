"""tf.saved_model.save: writes an object with its variables and functions as a SavedModel."""

from __future__ import annotations

from stillflow.files import filesystem
from stillflow.formats import protobuf
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.saved_objects import signatures as signature_functions
from stillflow.saved_objects.exported_graph import ExportedGraph
from stillflow.saved_objects.messages import object_graph_message
from stillflow.saved_objects.view import Listing, SavedView
from stillflow.saver.objects.checkpoint import ObjectSaver
from stillflow.saver.saved_model import assets, names
from stillflow.tracking.base import Trackable


@public("saved_model.save", "saved_model.experimental.save", "python.saved_model.save.save")
def save(obj, export_dir, signatures=None):
    """Writes an object, what it depends on and their functions to a folder, a SavedModel.

    tf.saved_model.load_v2 brings the object back; sessions and servers find its signatures. Of a function it has
    those traces that there are, and one if it has an input signature.

        class Adder(tf.Module):
            @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
            def add(self, x):
                return x + x + 1.0

        tf.saved_model.save(Adder(), "/tmp/adder")

    Args:
      obj: a Trackable. In graphs, the default session has the values of its variables.
      export_dir: the folder. It is made if it is not there.
      signatures: a tf.function with an input signature, or a ConcreteFunction, that servers are to call by default;
        {name: function} for several. By default the object's only function that can be one, if there is one.

    Raises:
      AssertionError: inside of a function that is being traced, and for signatures that use what `obj` does not
        depend on.
      KeyError: for other functions that do so.
      ValueError: for what is not trackable, and for signatures with nested arguments or results.
      tf.errors.OpError: if a variable has no value, or a file cannot be written.
    """
    if get_default_graph().building_function:
        raise AssertionError(
            "tf.saved_model.save is not supported inside a traced @tf.function. Move the call to the outer "
            "eagerly-executed context."
        )
    if not isinstance(obj, Trackable):
        raise ValueError(f"Expected a Trackable object for export, got {obj}.")
    listing = Listing(obj)
    if signatures is None:
        signatures = signature_functions.find_function_to_export(listing.functions(obj))
    signatures = signature_functions.canonicalize_signatures(signatures)
    signature_functions.check_signatures_attribute(obj, listing.dependencies(obj))
    listing.add_object(obj, signature_functions.SIGNATURES_ATTRIBUTE, signature_functions.SignatureMap(signatures))
    SavedView(listing)  # tracing functions may make variables, which the second view finds
    _write(SavedView(listing), signatures, filesystem.path_text(export_dir))


def _write(view, signatures, folder):
    exported = ExportedGraph(view, signatures)
    saved_model = protobuf.message("SavedModel")(saved_model_schema_version=names.SAVED_MODEL_SCHEMA_VERSION)
    meta_graph = saved_model.meta_graphs.add()
    meta_graph.CopyFrom(exported.meta_graph())
    ObjectSaver(view.listing.root, view.listing.dependencies).save(names.variables_path(folder), None)
    assets.copy_all(exported.asset_sources, folder)
    meta_graph.object_graph_def.CopyFrom(object_graph_message(view, exported.asset_numbers))
    path = names.saved_model_path(folder)
    with filesystem.typed_errors(path):
        filesystem.write_atomically(path, protobuf.to_bytes(saved_model))
