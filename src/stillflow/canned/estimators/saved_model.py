"""SavedModelEstimator: goes on with a model that was exported with all its modes."""

from __future__ import annotations

from stillflow.estimator.estimator import Estimator
from stillflow.estimator.receivers import checked_inputs
from stillflow.estimator.spec import EstimatorSpec
from stillflow.estimator.warm_starting import WarmStartSettings
from stillflow.files import filesystem, gfile
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.saver.checkpoint_reader import list_variables
from stillflow.saver.saved_model import names
from stillflow.saver.saved_model.exporting import tags_of
from stillflow.saver.saved_model.loader import SavedModelLoader, get_init_op
from stillflow.saver.saved_model.modes import EstimatorModeKeys as ModeKeys
from stillflow.training.global_step import assert_global_step, get_global_step
from stillflow.training_loop.messages import log
from stillflow.training_loop.scaffold import Scaffold

_METHODS = {ModeKeys.TRAIN: names.SUPERVISED_TRAIN_METHOD_NAME, ModeKeys.EVAL: names.SUPERVISED_EVAL_METHOD_NAME}
_OF_LOADING = (names.ASSETS_KEY, names.LEGACY_INIT_OP_KEY, names.MAIN_OP_KEY, names.TRAIN_OP_KEY)


@public("contrib.estimator.SavedModelEstimator", "python.estimator.canned.saved_model_estimator.SavedModelEstimator")
class SavedModelEstimator(Estimator):
    """Trains, evaluates and predicts with the graphs of a SavedModel, beginning with its variables.

    Args:
      saved_model_dir: a SavedModel of Estimator.experimental_export_all_saved_models.
      model_dir: the folder of its own checkpoints.

    Raises:
      NotImplementedError: if the config has a distribution strategy.
      ValueError: if the folder has no variables of a SavedModel.

    Methods raise RuntimeError for modes that the SavedModel has no graph for.
    """

    def __init__(self, saved_model_dir, model_dir=None):
        saved_model_dir = filesystem.path_text(saved_model_dir)
        checkpoint = names.variables_path(saved_model_dir)
        if not gfile.Exists(checkpoint + ".index"):
            raise ValueError(f"Directory provided has an invalid SavedModel format: {saved_model_dir}")
        wanted = [name for name, _ in list_variables(checkpoint)]
        settings = WarmStartSettings(ckpt_to_initialize_from=checkpoint, vars_to_warm_start=wanted)
        super().__init__(self._model_fn_from_saved_model, model_dir, warm_start_from=settings)
        if self._config.train_distribute or self._config.eval_distribute:
            raise NotImplementedError("SavedModelEstimator currently does not support DistributionStrategy.")
        self.saved_model_dir = saved_model_dir
        self.saved_model_loader = SavedModelLoader(saved_model_dir)
        self._available_modes = self._found_modes()

    def _found_modes(self):
        log().info("Checking available modes for SavedModelEstimator.")
        found = []
        for mode in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT):
            try:
                signature = self._signature(mode)
            except RuntimeError:
                log().warning("%s mode not found in SavedModel.", mode)
                continue
            if signature is not None:
                found.append(mode)
        log().info("Available modes for Estimator: %s", found)
        return found

    def _meta_graph(self, mode):
        return self.saved_model_loader.get_meta_graph_def_from_tags(tags_of(mode))

    def _signature(self, mode):
        signatures = self._meta_graph(mode).signature_def
        key = names.DEFAULT_SERVING_SIGNATURE_DEF_KEY if mode == ModeKeys.PREDICT else mode
        if key not in signatures:
            log().warning('Metagraph for mode %s was found, but SignatureDef with key "%s" is missing.', mode, key)
            return None
        return signatures[key]

    def _create_and_assert_global_step(self, graph):
        return None  # the SavedModel brings it

    def _model_fn_from_saved_model(self, features, labels, mode):
        if mode not in self._available_modes:
            raise RuntimeError(
                f"{mode} mode is not available in the SavedModel. Use saved_model_cli to check that the Metagraph "
                "for this mode has been exported."
            )
        graph = get_default_graph()
        if get_global_step(graph) is not None:
            raise RuntimeError(
                "Graph must not contain a global step tensor before the SavedModel is loaded. Please make sure that "
                "the input function does not create a global step."
            )
        signature = self._signature(mode)
        keys, wanted = zip(*((key, info.name) for key, info in signature.outputs.items()), strict=True)
        _, tensors = self.saved_model_loader.load_graph(
            graph, tags_of(mode), input_map=_input_map(signature, features, labels), return_elements=list(wanted)
        )
        scaffold = Scaffold(local_init_op=get_init_op(self._meta_graph(mode)))
        assert_global_step(get_global_step(graph))
        loss, predictions, metrics = _outputs(mode, dict(zip(keys, tensors, strict=True)), signature.method_name)
        train_ops = graph.get_collection(names.TRAIN_OP_KEY)
        if len(train_ops) > 1:
            raise RuntimeError("Multiple ops found in the train_op collection.")
        for key in _OF_LOADING:
            graph.clear_collection(key)
        return EstimatorSpec(
            scaffold=scaffold, mode=mode, loss=loss, train_op=train_ops[0] if train_ops else None,
            predictions=predictions, eval_metric_ops=metrics,
        )  # fmt: skip


def _input_map(signature, features, labels):
    """{name of an input in the SavedModel, also as a control input: the tensor that stands for it}."""
    given = checked_inputs(features, "feature")
    given_labels = {} if labels is None else checked_inputs(labels, "label")
    found = {}
    for key, info in signature.inputs.items():
        name = info.name.partition(":")[0]
        tensor = given.get(key, given_labels.get(key))
        if tensor is None:
            raise ValueError(
                f'Key "{key}" not found in features or labels passed in to the model function. All required keys: '
                f"{signature.inputs.keys()}"
            )
        _check_input(tensor, info, key)
        found[name] = found[f"^{name}"] = tensor
    return found


def _check_input(tensor, info, name):
    dtype, shape = dtypes.as_dtype(info.dtype), TensorShape(info.tensor_shape)
    wrong = []
    if tensor.dtype != dtype:
        wrong.append(f"\n\tExpected dtype: {dtype}, Got: {tensor.dtype}")
    if not tensor.shape.is_compatible_with(shape):
        wrong.append(f"\n\tExpected shape: {shape}, Got: {tensor.shape}")
    if wrong:
        raise ValueError(f"Tensor shape and/or dtype validation failed for input {name}:{''.join(wrong)}")


def _metrics(outputs):
    """{name: (value, update)} of the outputs that are metrics."""
    found = {}
    for key, tensor in outputs.items():
        name, _, last = key.rpartition("/")
        update = outputs.get(f"{name}/update_op")
        if key.startswith("metrics/") and last == "value" and update is not None:
            found[name] = tensor, update
    return found


def _outputs(mode, outputs, method_name):
    """(loss, predictions, metrics) of the outputs of a signature."""
    if mode == ModeKeys.PREDICT:
        return None, outputs, None
    if method_name != _METHODS[mode]:
        raise RuntimeError(
            f"Invalid SignatureDef method name for mode {mode}.\n\tExpected: {_METHODS[mode]}\n\tGot: {method_name}\n"
            "Please ensure that the SavedModel was exported with "
            "`tf.estimator.experimental_export_all_saved_models()`."
        )
    predictions = {key: value for key, value in outputs.items() if key.partition("/")[0] == "predictions"}
    return outputs["loss"], predictions, _metrics(outputs)
