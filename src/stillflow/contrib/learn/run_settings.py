"""tf.contrib.learn.RunConfig: how an Estimator runs, with the settings of sessions among its arguments."""

from __future__ import annotations

import collections

from stillflow.estimator import run_config
from stillflow.formats import protobuf
from stillflow.names import public

_NOT_IN_ID = [
    "tf_random_seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs", "session_config",
    "keep_checkpoint_max", "keep_checkpoint_every_n_hours", "log_step_count_steps",
]  # fmt: skip


@public("contrib.learn.TaskType")
class TaskType:
    """The kinds of tasks of a cluster."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"


@public("contrib.learn.RunConfig")
class RunConfig(run_config.RunConfig):
    """How an Estimator runs.

    Args:
      master: the target of sessions that train; by default what TF_CONFIG says.
      num_cores: how many threads sessions have; 0 for as many as there are cores.
      log_device_placement: whether sessions log where operations run.
      gpu_memory_fraction: the share of a GPU's memory; it means nothing here.
      evaluation_master: the target of sessions that evaluate.
      The others are as tf.estimator.RunConfig has them. save_checkpoints_secs is 600 by default, if steps are not
        given.

    Raises ValueError for what makes no sense.
    """

    _USE_DEFAULT = 0

    def __init__(
        self, master=None, num_cores=0, log_device_placement=False, gpu_memory_fraction=1, tf_random_seed=None,
        save_summary_steps=100, save_checkpoints_secs=_USE_DEFAULT, save_checkpoints_steps=None,
        keep_checkpoint_max=5, keep_checkpoint_every_n_hours=10000, log_step_count_steps=100, protocol=None,
        evaluation_master="", model_dir=None, session_config=None, session_creation_timeout_secs=7200,
    ):  # fmt: skip
        if save_checkpoints_secs == RunConfig._USE_DEFAULT:
            save_checkpoints_secs = 600 if save_checkpoints_steps is None else None
        super().__init__(
            model_dir=model_dir,
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_steps=save_checkpoints_steps,
            save_checkpoints_secs=save_checkpoints_secs,
            session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            protocol=protocol,
            session_creation_timeout_secs=session_creation_timeout_secs,
        )
        if master is not None:
            self._master = master
        self._evaluation_master = evaluation_master or ""
        config = protobuf.message("ConfigProto")(
            log_device_placement=log_device_placement,
            inter_op_parallelism_threads=num_cores,
            intra_op_parallelism_threads=num_cores,
        )
        config.gpu_options.per_process_gpu_memory_fraction = gpu_memory_fraction
        self._tf_config = config
        self._environment = "local"

    @property
    def tf_config(self):
        """The ConfigProto that the arguments make."""
        return self._tf_config

    @property
    def environment(self):
        """Where it runs: "local"."""
        return self._environment

    def uid(self, whitelist=None):
        """A text that is the same for settings that mean the same.

        Args:
          whitelist: names of settings that do not count; by default those that say how training goes on.
        """
        left_out = {f"_{name}" for name in (_NOT_IN_ID if whitelist is None else whitelist)}
        state = {name: value for name, value in sorted(vars(self).items()) if name not in left_out}
        cluster = state.get("_cluster_spec")
        if cluster is not None:
            state["_cluster_spec"] = collections.OrderedDict(sorted(cluster.as_dict().items()))
        return ", ".join(f"{name}={value!r}" for name, value in state.items())
