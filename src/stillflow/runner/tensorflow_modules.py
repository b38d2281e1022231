"""`import tensorflow` and its modules, served by stillflow, in this process.

A table says what the modules of `tensorflow.python` offer; all names come from the modules of the facade, so that
the table needs no change when those grow. What is not here fails with a sentence that says what is missing.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
import types

# Modules of TensorFlow that are modules of ours.
_SAME = {
    "examples": "stillflow.examples",
    "examples.tutorials": "stillflow.examples.tutorials",
    "examples.tutorials.mnist": "stillflow.examples.tutorials.mnist",
    "examples.tutorials.mnist.input_data": "stillflow.examples.tutorials.mnist.input_data",
    "compat.v1": "stillflow",
    "errors": "stillflow.errors",
    "python.client.timeline": "stillflow.session.timeline",
    "python.framework.errors": "stillflow.errors",
    "python.framework.errors_impl": "stillflow.errors",
    "python.ops.nn": "stillflow.facade.nn",
    "python.ops.standard_ops": "stillflow",
    "python.platform.app": "stillflow.platform.app",
    "python.platform.flags": "stillflow.platform.flags",
    "python.platform.gfile": "stillflow.facade.gfile",
    "python.platform.tf_logging": "stillflow.platform.logging",
    "python.platform.test": "stillflow.facade.test",
    "python.training.training": "stillflow.facade.train",
    "python.training.moving_averages": "stillflow.training.moving_averages",
    "python.util.compat": "stillflow.facade.compat",
    "python.util.nest": "stillflow.facade.nest",
}
_NAMESPACES = (
    "bitwise compat debugging dtypes gfile image initializers linalg manip math nest nn random "
    "saved_model sparse strings test train version"
).split()
_SAME.update((name, f"stillflow.facade.{name}") for name in _NAMESPACES)
_SAME.update((name, f"stillflow.platform.{name}") for name in ("app", "flags", "logging"))

_SAVED_MODEL = "builder constants loader main_op signature_constants signature_def_utils tag_constants utils".split()
for _module in _SAVED_MODEL:
    for _folder in ("saved_model", "python.saved_model"):
        _SAME[f"{_folder}.{_module}"] = f"stillflow.facade.saved_model.{_module}"

# Modules that are made of ours: "module" for all that it offers, "module: name name" for a few.
_MADE = {
    "contrib": ["stillflow.facade.contrib"],
    "contrib.eager": ["stillflow.facade.contrib.eager"],
    "contrib.eager.python.tfe": ["stillflow.facade.contrib.eager"],
    "contrib.layers": ["stillflow.facade.contrib.layers"],
    "contrib.tensorboard": ["stillflow.facade.contrib.tensorboard"],
    "contrib.tensorboard.plugins": ["stillflow.facade.contrib.tensorboard.plugins"],
    "contrib.tensorboard.plugins.projector": ["stillflow.facade.contrib.tensorboard.plugins.projector"],
    "contrib.layers.python.layers.initializers": ["stillflow.facade.contrib.layers"],
    "python.client.session": ["stillflow: InteractiveSession Session"],
    "python.framework.constant_op": ["stillflow: constant"],
    "python.framework.dtypes": ["stillflow.graph.dtypes", "stillflow: bool"],
    "python.framework.ops": [
        "stillflow.facade.graph: Graph GraphKeys IndexedSlices NoGradient NotDifferentiable Operation "
        "RegisterGradient Tensor add_to_collection add_to_collections colocate_with container control_dependencies "
        "convert_to_tensor convert_to_tensor_or_indexed_slices device get_collection get_collection_ref "
        "get_default_graph get_default_session name_scope op_scope register_tensor_conversion_function "
        "reset_default_graph"
    ],
    "python.framework.random_seed": ["stillflow.random.seeds: get_seed set_random_seed"],
    "python.framework.smart_cond": [
        "stillflow.ops.control_flow.cond: smart_cond smart_constant_value",
        "stillflow.composites.case: smart_case",
    ],
    "python.framework.tensor_shape": [
        "stillflow.graph.shape: Dimension TensorShape as_dimension as_shape",
        "stillflow.runner.shapes",
    ],
    "python.framework.tensor_util": ["stillflow.graph.shape_inference: constant_value"],
    "python.framework.test_util": [
        "stillflow.facade.test: assert_equal_graph_def gpu_device_name is_gpu_available",
        "stillflow.runner.test_util",
    ],
    "python.platform.googletest": [
        "stillflow.facade.test: StubOutForTesting main mock",
        "stillflow.runner.test_util: GetTempDir TestCase",
    ],
    "python.ops.gradient_checker": ["stillflow.facade.test: compute_gradient compute_gradient_error"],
    "python.ops.array_ops": [
        "stillflow.facade.array",
        "stillflow.facade.array_order",
        "stillflow: boolean_mask identity placeholder placeholder_with_default stop_gradient unique where",
    ],
    "python.ops.check_ops": ["stillflow.facade.checks"],
    "python.ops.clip_ops": ["stillflow.facade.clip"],
    "python.ops.control_flow_ops": [
        "stillflow: Assert case cond group no_op tuple while_loop with_dependencies",
        "stillflow.ops.control_flow.branch: merge switch",
        "stillflow.ops.control_flow.context: CondContext ControlFlowContext",
        "stillflow.ops.control_flow.while_context: WhileContext",
    ],
    "python.ops.functional_ops": ["stillflow: foldl foldr map_fn scan"],
    "python.ops.map_fn": ["stillflow: map_fn"],
    "python.ops.tensor_array_ops": ["stillflow: TensorArray"],
    "python.ops.embedding_ops": ["stillflow.facade.nn: embedding_lookup embedding_lookup_sparse"],
    "python.ops.gradients": ["stillflow: AggregationMethod gradients hessians"],
    "python.ops.gradients_impl": ["stillflow: AggregationMethod gradients hessians"],
    "python.ops.init_ops": ["stillflow.variables.initializers", "stillflow.facade.initializers"],
    "python.ops.linalg_ops": ["stillflow.facade.linalg"],
    "python.ops.logging_ops": ["stillflow: Print"],
    "python.ops.math_ops": [
        "stillflow.facade.math_binary",
        "stillflow.facade.math_unary",
        "stillflow.facade.math_reductions",
        "stillflow.facade.casts",
        "stillflow.facade.segments",
        "stillflow: linspace lin_space matmul range tensordot",
    ],
    "python.ops.nn_ops": ["stillflow.facade.nn"],
    "python.lib.io.tf_record": ["stillflow.facade.python_io"],
    "python.ops.parsing_ops": ["stillflow.facade.parsing", "stillflow.facade.io: parse_sequence_example"],
    "python.ops.string_ops": ["stillflow.facade.string_names"],
    "python.ops.io_ops": ["stillflow: matching_files read_file write_file"],
    "python.summary.summary": ["stillflow.facade.summary"],
    "python.summary.summary_iterator": ["stillflow.facade.train: summary_iterator"],
    "python.summary.writer.writer": ["stillflow.facade.summary: FileWriter"],
    "python.ops.random_ops": ["stillflow.facade.random", "stillflow: random_normal random_uniform truncated_normal"],
    "python.ops.state_ops": [
        "stillflow.facade.variables: assign assign_add assign_sub is_variable_initialized scatter_add scatter_div "
        "scatter_max scatter_min scatter_mul scatter_nd_add scatter_nd_sub scatter_nd_update scatter_sub "
        "scatter_update"
    ],
    "python.ops.variable_scope": ["stillflow.facade.variable_scope"],
    "python.ops.variables": ["stillflow.facade.variables"],
    "python.client.device_lib": ["stillflow.runner.device_lib"],
    "python.training.basic_loops": ["stillflow.facade.train: basic_train_loop"],
    "python.training.basic_session_run_hooks": [
        "stillflow.facade.train: CheckpointSaverHook CheckpointSaverListener FeedFnHook FinalOpsHook "
        "GlobalStepWaiterHook LoggingTensorHook NanLossDuringTrainingError NanTensorHook ProfilerHook "
        "SecondOrStepTimer SessionRunArgs StepCounterHook StopAtStepHook SummarySaverHook",
        "stillflow.training_loop.hooks.step_timer: NeverTriggerTimer",
    ],
    "python.training.checkpoint_management": [
        "stillflow.facade.train: CheckpointManager checkpoint_exists generate_checkpoint_state_proto "
        "get_checkpoint_mtimes get_checkpoint_state latest_checkpoint remove_checkpoint update_checkpoint_state"
    ],
    "python.training.checkpoint_state_pb2": ["stillflow.facade.train: CheckpointState"],
    "python.training.checkpoint_utils": [
        "stillflow.facade.train: checkpoints_iterator init_from_checkpoint list_variables load_checkpoint "
        "load_variable"
    ],
    "python.training.coordinator": ["stillflow.facade.train: Coordinator LooperThread"],
    "python.training.device_setter": ["stillflow.facade.train: replica_device_setter"],
    "python.training.input": [
        "stillflow.facade.train: batch batch_join input_producer limit_epochs match_filenames_once maybe_batch "
        "maybe_batch_join maybe_shuffle_batch maybe_shuffle_batch_join range_input_producer shuffle_batch "
        "shuffle_batch_join slice_input_producer string_input_producer"
    ],
    "python.training.learning_rate_decay": ["stillflow.training.schedules"],
    "python.training.monitored_session": [
        "stillflow.facade.train: ChiefSessionCreator MonitoredSession MonitoredTrainingSession Scaffold "
        "SessionCreator SingularMonitoredSession WorkerSessionCreator",
        "stillflow.training_loop.monitored_session: USE_DEFAULT",
    ],
    "python.training.queue_runner": ["stillflow.facade.train: QueueRunner add_queue_runner start_queue_runners"],
    "python.training.queue_runner_impl": [
        "stillflow.facade.train: QueueRunner add_queue_runner start_queue_runners"
    ],
    "python.training.saver": [
        "stillflow.facade.train: Saver checkpoint_exists export_meta_graph generate_checkpoint_state_proto "
        "get_checkpoint_mtimes get_checkpoint_state import_meta_graph latest_checkpoint update_checkpoint_state"
    ],
    "python.training.server_lib": ["stillflow.facade.train: ClusterSpec"],
    "python.training.session_manager": ["stillflow.facade.train: SessionManager"],
    "python.training.session_run_hook": [
        "stillflow.facade.train: SessionRunArgs SessionRunContext SessionRunHook SessionRunValues"
    ],
    "python.training.summary_io": [
        "stillflow.facade.train: SummaryWriter summary_iterator",
        "stillflow.runner.summary_io",
    ],
    "python.training.supervisor": [
        "stillflow.facade.train: Supervisor",
        "stillflow.training_loop.services: SVStepCounterThread SVSummaryThread SVTimerCheckpointThread",
    ],
    "python.training.training_util": [
        "stillflow.facade.train: assert_global_step create_global_step get_global_step get_or_create_global_step "
        "global_step write_graph"
    ],
    "python.training.warm_starting_util": ["stillflow.facade.train: VocabInfo warm_start"],
    "python.training.adadelta": ["stillflow.facade.train: AdadeltaOptimizer"],
    "python.training.adagrad": ["stillflow.facade.train: AdagradOptimizer"],
    "python.training.adagrad_da": ["stillflow.facade.train: AdagradDAOptimizer"],
    "python.training.adam": ["stillflow.facade.train: AdamOptimizer"],
    "python.training.ftrl": ["stillflow.facade.train: FtrlOptimizer"],
    "python.training.gradient_descent": ["stillflow.facade.train: GradientDescentOptimizer"],
    "python.training.momentum": ["stillflow.facade.train: MomentumOptimizer"],
    "python.training.optimizer": ["stillflow.facade.train: Optimizer"],
    "python.training.proximal_adagrad": ["stillflow.facade.train: ProximalAdagradOptimizer"],
    "python.training.proximal_gradient_descent": ["stillflow.facade.train: ProximalGradientDescentOptimizer"],
    "python.training.rmsprop": ["stillflow.facade.train: RMSPropOptimizer"],
    "python.saved_model.simple_save": ["stillflow.facade.saved_model: simple_save"],
    "python.training.slot_creator": ["stillflow.training.slot_creator"],
    "core.example.example_pb2": ["stillflow.facade.train: Example SequenceExample"],
    "core.example.feature_pb2": [
        "stillflow.facade.train: BytesList Feature FeatureList FeatureLists Features FloatList Int64List"
    ],
    "core.framework.attr_value_pb2": ["stillflow: AttrValue"],
    "core.framework.graph_pb2": ["stillflow: GraphDef"],
    "core.framework.node_def_pb2": ["stillflow: NodeDef"],
    "core.framework.summary_pb2": ["stillflow: HistogramProto Summary SummaryMetadata"],
    "core.protobuf.config_pb2": [
        "stillflow: ConfigProto GPUOptions GraphOptions OptimizerOptions RunMetadata RunOptions"
    ],
    "core.protobuf.cluster_pb2": ["stillflow.facade.train: ClusterDef JobDef"],
    "core.protobuf.saver_pb2": ["stillflow.facade.train: SaverDef"],
    "core.protobuf.tensorflow_server_pb2": ["stillflow.facade.train: ServerDef"],
    "core.protobuf.meta_graph_pb2": ["stillflow: MetaGraphDef TensorInfo"],
    "core.util.event_pb2": ["stillflow: Event LogMessage SessionLog"],
}  # fmt: skip


def _packages():
    """The packages that the made modules stand in."""
    found: set[str] = set()
    for name in (*_MADE, *_SAME):
        parts = name.split(".")
        found.update(".".join(parts[:i]) for i in range(1, len(parts)))
    return found - set(_SAME)


_PACKAGES = _packages()


class _Made(types.ModuleType):
    """A module whose names are looked up, when they are asked for, in others."""

    def __init__(self, name, sources):
        super().__init__(name, f"What stillflow offers of {name}.")
        self.__sources = sources

    def __getattr__(self, name):
        if not name.startswith("__"):
            for source in self.__sources:
                module, _, names = source.partition(":")
                if names and name not in names.split():
                    continue
                found = importlib.import_module(module)
                if not names and name not in getattr(found, "__all__", vars(found)):
                    continue
                if hasattr(found, name):
                    return getattr(found, name)
        raise AttributeError(f"stillflow has no {self.__name__}.{name}")


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `tensorflow` and everything below it, or says what is missing."""

    def find_spec(self, fullname, path=None, target=None):
        top, _, name = fullname.partition(".")
        if top == "stillflow":
            return _own_spec(fullname, path)
        if top != "tensorflow":
            return None
        name = _without_v1(name)
        if name and name not in _SAME and name not in _MADE and name not in _PACKAGES:
            # A name of None: `from package import name` must not replace the sentence by its own.
            raise ModuleNotFoundError(f"stillflow has no {fullname}: this part of TensorFlow 1.15 is missing")
        return importlib.machinery.ModuleSpec(fullname, self, is_package=name in _PACKAGES)

    def create_module(self, spec):
        name = _without_v1(spec.name.partition(".")[2])
        return _Made(spec.name, _MADE.get(name, ())) if name not in _SAME else None

    def exec_module(self, module):
        name = _without_v1(module.__name__.partition(".")[2])
        if name in _SAME:
            sys.modules[module.__name__] = importlib.import_module(_SAME[name])


def _own_spec(fullname, path):
    """For `from tensorflow import keras`, which asks for stillflow.keras."""
    if path is not None and importlib.machinery.PathFinder.find_spec(fullname, path) is None:
        name = fullname.partition(".")[2]
        raise ModuleNotFoundError(f"stillflow has no tensorflow.{name}: this part of TensorFlow 1.15 is missing")


def _without_v1(name):
    """`tensorflow.compat.v1` is tensorflow over again."""
    return name.removeprefix("compat.v1.")


_FINDER = _Finder()


def install():
    """Makes `import tensorflow` in this process mean stillflow, with the modules that it has.

    Raises RuntimeError if another tensorflow has been imported already.
    """
    import stillflow

    found = sys.modules.get("tensorflow")
    if found is not None and found is not stillflow:
        raise RuntimeError(
            "Another tensorflow has been imported already; install_as_tensorflow must come before that"
        )
    sys.modules["tensorflow"] = stillflow
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
