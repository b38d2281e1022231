"""SavedModels of graphs, which sessions load, as objects with functions of tensors."""

from __future__ import annotations

import logging

from stillflow import ops
from stillflow.functions.function_graph import FunctionGraph
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.ops.control_flow.dependencies import group
from stillflow.resources.trackable import CapturableResource, TrackableAsset
from stillflow.saved_objects.function_library import renamed_graph_def
from stillflow.saved_objects.signatures import SignatureMap
from stillflow.saver.meta_graph_import import import_with_elements
from stillflow.saver.saved_model.loader import SavedModelLoader, asset_paths, get_init_op
from stillflow.traced_functions.lifting import UnliftableError
from stillflow.traced_functions.wrapped import wrap_function
from stillflow.tracking.structures import AutoTrackable
from stillflow.variables.listing import local_variables_initializer
from stillflow.variables.readiness import tables_initializer

_log = logging.getLogger("tensorflow")


class Initializer(CapturableResource):
    """What a model runs after loading; a SavedModel that is made of the object has it, too.

    Args:
      function: takes the paths of the files.
      paths: TrackableAssets.
    """

    def __init__(self, function, paths):
        super().__init__()
        self._asset_paths = paths
        self._function = function

    def _create_resource(self):
        return ops.placeholder(dtypes.resource, [], name="unused_resource")

    def _initialize(self):
        return self._function(*[path.asset_path for path in self._asset_paths])


def load(export_dir, tags=None):
    """The object of a SavedModel's graph; see `stillflow.saved_objects.load.load`."""
    return _Loader(export_dir).object_of(tags)


class _Loader(SavedModelLoader):
    def get_meta_graph_def_from_tags(self, tags):
        """The graph with these tags; without tags, the only one. Raises ValueError if there are several."""
        if tags is not None:
            return super().get_meta_graph_def_from_tags(tags)
        graphs = self.saved_model.meta_graphs
        if len(graphs) != 1:
            sets = [list(graph.meta_info_def.tags) for graph in graphs]
            raise ValueError(
                "Importing a SavedModel with tf.saved_model.load requires a 'tags=' argument if there is more than "
                f"one MetaGraph. Got 'tags=None', but there are {len(graphs)} MetaGraphs in the SavedModel with tag "
                f"sets {sets}. Pass a 'tags=' argument to load this SavedModel."
            )
        return graphs[0]

    def object_of(self, tags):
        """The object of the graph with these tags."""
        meta_graph = self.get_meta_graph_def_from_tags(tags)
        meta_graph.graph_def.CopyFrom(renamed_graph_def(meta_graph.graph_def))
        savers = []
        wrapped = wrap_function(lambda: savers.append(import_with_elements(meta_graph)[0]), signature=[])
        if savers[0] is not None:
            self._restore(wrapped, savers[0].saver_def)
        root = AutoTrackable()
        root.initializer, root.asset_paths = self._initialize(wrapped, meta_graph)
        root.signatures = SignatureMap(_signatures(wrapped, meta_graph))
        root.variables = list(wrapped.graph.variables)
        root.tensorflow_version = meta_graph.meta_info_def.tensorflow_version
        root.tensorflow_git_version = meta_graph.meta_info_def.tensorflow_git_version
        root.graph = wrapped.graph
        root.prune = wrapped.prune
        return root

    def _restore(self, wrapped, saver_def):
        """Gives the variables their values; in graphs, their initializers do that."""
        find = wrapped.graph.as_graph_element
        filename = find(saver_def.filename_tensor_name)
        restore = wrapped.prune([filename], [filename, find(saver_def.restore_op_name)])
        restored, _ = restore(ops.constant(self.variables_path))
        variables = wrapped.graph.get_collection_ref(GraphKeys.GLOBAL_VARIABLES)
        run_when_initialized(restored, variables)

    def _initialize(self, wrapped, meta_graph):
        """Runs what is to run after loading: (the Initializer that has done it, the TrackableAssets)."""
        with wrapped.graph.as_default():
            init_op = get_init_op(meta_graph) or group(local_variables_initializer(), tables_initializer())
            anchor = ops.constant(0.0, name="dummy_fetch")
        paths = asset_paths(meta_graph, self.export_dir)
        assets = [TrackableAsset(path) for path in paths.values()]
        function = wrapped.prune(list(paths), [anchor, wrapped.graph.as_graph_element(init_op)])
        initializer = Initializer(function, assets)
        done, _ = initializer._initialize()
        run_when_initialized(done, wrapped.graph.get_collection_ref(GraphKeys.LOCAL_VARIABLES))
        return initializer, assets


@by_mode
def run_when_initialized(operation, variables):
    """Makes an operation the initializer of variables, and one that tf.tables_initializer runs."""
    get_default_graph().add_to_collection(GraphKeys.TABLE_INITIALIZERS, operation)
    for variable in variables:
        variable._initializer_op = operation
    if any(isinstance(variable.graph, FunctionGraph) for variable in variables):
        _log.warning(
            "Some variables could not be lifted out of a loaded function. Run the "
            "tf.initializers.tables_initializer() operation to restore these variables."
        )


@eager_version_of(run_when_initialized)
def nothing_to_run_later(operation, variables):
    """The operation has run."""


def _signatures(wrapped, meta_graph):
    """{name: WrappedFunction} of the signatures of a graph."""
    found = {}
    for key, signature in meta_graph.signature_def.items():
        feeds = [wrapped.graph.as_graph_element(info.name) for info in signature.inputs.values()]
        try:
            function = wrapped.prune(feeds, dict(signature.outputs))
        except UnliftableError as error:
            raise UnliftableError(
                "A SavedModel signature needs an input for each placeholder the signature's outputs use. An output "
                f"for signature '{key}' depends on a placeholder which is not an input (i.e. the placeholder is not "
                f"fed a value).\n\n{error}"
            ) from None
        function._arg_keywords = list(signature.inputs)
        function._num_positional_args = int(len(feeds) == 1)
        found[key] = function
    return found
