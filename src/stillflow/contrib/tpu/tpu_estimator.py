"""tf.contrib.tpu.TPUEstimator: an Estimator whose functions are told the size of batches, on the processor."""

from __future__ import annotations

import copy
import enum

from stillflow.contrib.tpu.settings import InputPipelineConfig, RunConfig, check_positive_integer, loop_length
from stillflow.contrib.tpu.specs import TPUEstimatorSpec
from stillflow.estimator.estimator import Estimator
from stillflow.estimator.model_function import check_model_fn, wanted
from stillflow.formats import protobuf
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.names.arguments import fn_args
from stillflow.saver.saved_model.modes import EstimatorModeKeys as ModeKeys
from stillflow.training.global_step import get_global_step
from stillflow.training_loop.hooks.progress import StepCounterHook
from stillflow.training_loop.messages import log
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Zeros

_RESERVED = ["batch_size", "context"]


class ExportSavedModelApiVersion(enum.Enum):
    """How SavedModels are made for TPUs."""

    V1 = 1
    V2 = 2


class ExamplesPerSecondHook(StepCounterHook):
    """Logs and writes steps and examples per second.

    Args:
      batch_size: how many examples a step has.
      every_n_steps, every_n_secs, output_dir, summary_writer: as tf.train.StepCounterHook has them.
    """

    def __init__(self, batch_size, every_n_steps=100, every_n_secs=None, output_dir=None, summary_writer=None):
        self._batch_size = batch_size
        super().__init__(every_n_steps, every_n_secs, output_dir, summary_writer)

    def _log_and_record(self, elapsed_steps, elapsed_time, global_step):
        steps = elapsed_steps / elapsed_time
        rates = {"global_step/sec": steps}
        if self._batch_size is not None:
            rates["examples/sec"] = self._batch_size * steps
        for tag, rate in rates.items():
            if self._summary_writer is not None:
                summary = protobuf.message("Summary")()
                summary.value.add(tag=tag, simple_value=rate)
                self._summary_writer.add_summary(summary, global_step)
        for tag, rate in rates.items():
            log().info("%s: %g", tag, rate)


@public("contrib.tpu.TPUEstimator", "estimator.tpu.TPUEstimator")
class TPUEstimator(Estimator):
    """An Estimator for TPUs, which runs on the processor with `use_tpu=False`.

    Args:
      model_fn: as tf.estimator.Estimator has it; it must take `params`, and may return a TPUEstimatorSpec.
      model_dir: the folder.
      config: a tf.contrib.tpu.RunConfig.
      params: hyperparameters: a dict or HParams. Functions find in them "batch_size" besides, if it is given here,
        and the model function "use_tpu".
      use_tpu: whether to use a TPU: calls that need one fail, as there is none.
      train_batch_size, eval_batch_size, predict_batch_size: how many examples batches have.
      batch_axis: the dimensions along which batches are split between cores.
      eval_on_tpu: whether evaluations use the TPU.
      export_to_tpu, export_to_cpu: what SavedModels are for; those for TPUs are left out.
      warm_start_from: where the first values of variables come from.
      embedding_config_spec: None, as there are no embeddings of TPUs.
      export_saved_model_api_version: how SavedModels for TPUs are made.

    Raises:
      ValueError: for another config, hyperparameters of reserved names, and sizes that a TPU needs.
      RuntimeError: when it is to use a TPU.
    """

    def __init__(
        self, model_fn=None, model_dir=None, config=None, params=None, use_tpu=True, train_batch_size=None,
        eval_batch_size=None, predict_batch_size=None, batch_axis=None, eval_on_tpu=True, export_to_tpu=True,
        export_to_cpu=True, warm_start_from=None, embedding_config_spec=None,
        export_saved_model_api_version=ExportSavedModelApiVersion.V1,
    ):  # fmt: skip
        if config is None or not isinstance(config, RunConfig):
            raise ValueError("`config` must be provided with type `tpu_config.RunConfig`")
        if params is not None and any(key in params for key in _RESERVED):
            raise ValueError(f"{_RESERVED} are reserved keys but existed in params {params}.")
        if embedding_config_spec is not None:
            raise ValueError("stillflow has no embeddings of TPUs: embedding_config_spec must be None.")
        if use_tpu:
            _check_sizes(config, train_batch_size, eval_batch_size, predict_batch_size)
        check_model_fn(model_fn, params)
        self._program_model_fn = model_fn
        steps, length = config.log_step_count_steps, loop_length(config.tpu_config.iterations_per_loop)
        super().__init__(
            model_fn=self._model_fn_on_processor,
            model_dir=model_dir,
            config=config.replace(log_step_count_steps=None),
            params=params or {},
            warm_start_from=warm_start_from,
        )
        self._log_every_n_secs = length.value if length.unit == "seconds" else None
        self._log_every_n_steps = None if steps is None or self._log_every_n_secs else -(-steps // length.value)
        self._use_tpu, self._eval_on_tpu = use_tpu, eval_on_tpu
        self._batch_sizes = {
            ModeKeys.TRAIN: train_batch_size,
            ModeKeys.EVAL: eval_batch_size,
            ModeKeys.PREDICT: predict_batch_size,
        }
        if not export_to_cpu and not export_to_tpu:
            raise ValueError("One of export_to_cpu and export_to_tpu must be true.")
        if not isinstance(export_saved_model_api_version, ExportSavedModelApiVersion):
            raise ValueError(
                "export_saved_model_api_version should be of type ExportSavedModelApiVersion; got "
                f"{export_saved_model_api_version}."
            )
        self._has_input = False

    def _check_processor(self, mode):
        """Raises RuntimeError where a TPU is to be used."""
        if self._use_tpu and (mode != ModeKeys.EVAL or self._eval_on_tpu):
            raise RuntimeError(
                f"Cannot find any TPU cores in the system (master address {self._config.master}). This usually means "
                "the master address is incorrect or the TPU worker has some problems. stillflow runs on the "
                "processor: pass use_tpu=False."
            )

    def _create_global_step(self, graph):
        if get_global_step(graph) is not None:
            raise ValueError('"global_step" already exists.')
        with graph.as_default(), graph.name_scope(None):
            return get_variable(
                GraphKeys.GLOBAL_STEP,
                shape=[],
                dtype=dtypes.int64,
                initializer=Zeros(),
                trainable=False,
                use_resource=True,
                collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
            )

    def _call_input_fn(self, input_fn, mode):
        if "params" not in fn_args(input_fn):
            raise ValueError(
                f"input_fn ({input_fn}) does not include params argument, required by TPUEstimator to pass batch "
                'size as params["batch_size"]'
            )
        arguments = wanted(input_fn, params=self.params, config=self.config, mode=mode)
        self._has_input = True
        self._check_processor(mode)
        if self._config.tpu_config.eval_training_input_configuration == InputPipelineConfig.SLICED:
            raise ValueError(
                "Invalid TPUConfig `eval_training_input_configuration` value. SLICED mode only works on use_tpu = "
                "True."
            )
        if self._batch_sizes[mode] is not None:
            _set(arguments["params"], "batch_size", self._batch_sizes[mode])
        with get_default_graph().device("/device:CPU:0"):
            return input_fn(**arguments)

    def _model_fn_on_processor(self, features, labels, mode, config, params):
        """The program's model function, with what it finds in its hyperparameters; its spec as an EstimatorSpec."""
        is_export, self._has_input = not self._has_input, False
        if is_export:
            _set(params, "use_tpu", False)
        hooks = self._counting_hooks(mode, config)
        log().info("Running %s on CPU", mode)
        spec = self._call_program(features, labels, mode, config, params, is_export)
        if isinstance(spec, TPUEstimatorSpec):
            spec = spec.as_estimator_spec()
        return spec._replace(training_hooks=(*spec.training_hooks, *hooks)) if hooks else spec

    def _counting_hooks(self, mode, config):
        if self._log_every_n_steps is None and self._log_every_n_secs is None:
            return []
        folder = self.model_dir if not config or config.save_summary_steps else None
        size = self._batch_sizes[mode]
        return [ExamplesPerSecondHook(size, self._log_every_n_steps, self._log_every_n_secs, folder)]

    def _call_program(self, features, labels, mode, config, params, is_export):
        config, params = copy.deepcopy(config), copy.deepcopy(params)
        arguments = wanted(self._program_model_fn, labels=labels, mode=mode, config=config, params=params)
        if labels is not None and "labels" not in arguments:
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        if "params" not in arguments:
            raise ValueError(
                f"model_fn ({self._program_model_fn}) does not include params argument, required by TPUEstimator to "
                "pass batch size as params['batch_size']"
            )
        if not is_export:
            if self._batch_sizes[mode] is not None:
                _set(params, "batch_size", self._batch_sizes[mode])
            _set(params, "use_tpu", False)
        return self._program_model_fn(features=features, **arguments)


def _check_sizes(config, train_batch_size, eval_batch_size, predict_batch_size):
    """Raises ValueError or TypeError for what a TPU could not use."""
    if train_batch_size is None:
        raise ValueError("`train_batch_size` cannot be `None`")
    check_positive_integer(train_batch_size, "train_batch_size")
    tpu_config = config.tpu_config
    is_per_shard = tpu_config.per_host_input_for_training is InputPipelineConfig.PER_SHARD_V1
    if is_per_shard and tpu_config.num_cores_per_replica:
        raise ValueError(
            "Model parallelism only supports per host input for training. Please adjust "
            "TPURunconfig.per_host_input_for_training."
        )
    for name, size in (("eval_batch_size", eval_batch_size), ("predict_batch_size", predict_batch_size)):
        if size is not None:
            check_positive_integer(size, name)


def _set(params, key, value):
    """Puts a value into hyperparameters, a dict or HParams."""
    if not hasattr(params, "set_hparam"):
        params[key] = value
    elif key in params:
        params.set_hparam(key, value)
    else:
        params.add_hparam(key, value)
