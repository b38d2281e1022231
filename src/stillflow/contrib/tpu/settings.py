"""tf.contrib.tpu.RunConfig and TPUConfig: how a TPUEstimator runs."""

from __future__ import annotations

import json
import os
import re
from typing import NamedTuple

from stillflow.estimator import run_config
from stillflow.estimator.cluster_environment import TaskType
from stillflow.formats.protobuf import ConfigProto
from stillflow.names import public
from stillflow.training_loop.messages import log

_LOOP_LENGTH = re.compile(r"(?P<number>[1-9]\d*)(?P<unit>[smh|])?")
_CORES = [1, 2, 4, 8, 16, 32, 64, 128]


class LoopLength(NamedTuple):
    """How long a loop of training steps is, in steps ("count") or "seconds"."""

    value: int
    unit: str


def loop_length(iterations_per_loop):
    """The LoopLength that a number, or a text as "10m", means. Raises ValueError for what means none."""
    match = _LOOP_LENGTH.fullmatch(str(iterations_per_loop))
    if match is None:
        raise ValueError(
            "Invalid TPUConfig `iterations_per_loop` value. Value must be positive integer value or time-based value "
            "`<N><s|m|h>` where <N> is anypositive integer and `s`, `m`, `h` are unit of time in seconds, minutes, "
            f"hours respectively. Given {iterations_per_loop}"
        )
    seconds = {"m": 60, "h": 3600}.get(match["unit"], 1)
    return LoopLength(int(match["number"]) * seconds, "seconds" if match["unit"] else "count")


def check_positive_integer(value, name):
    """Raises TypeError for what is no integer, ValueError for one that is not positive."""
    if not isinstance(value, int):
        raise TypeError(f"{name} must be int, got {type(value)}")
    if value <= 0:
        raise ValueError(f"{name} must be positive, got {value}")


@public("contrib.tpu.InputPipelineConfig", "estimator.tpu.InputPipelineConfig")
class InputPipelineConfig:
    """How often an input function is called: for each core, or for each host."""

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


class _TPUConfig(NamedTuple):
    iterations_per_loop: int | str
    num_shards: int | None
    num_cores_per_replica: int | None
    per_host_input_for_training: int
    tpu_job_name: str | None
    initial_infeed_sleep_secs: int | None
    input_partition_dims: list | None
    eval_training_input_configuration: int
    experimental_host_call_every_n_steps: int


@public("contrib.tpu.TPUConfig", "estimator.tpu.TPUConfig")
class TPUConfig(_TPUConfig):
    """What only TPUs need to know. On the processor it is checked, and means nothing.

    Args:
      iterations_per_loop: how many steps, or how long as "10m", one call of a TPU trains.
      num_shards: how many replicas of the model there are.
      num_cores_per_replica: how many cores each has.
      per_host_input_for_training: one of InputPipelineConfig's; True for PER_HOST_V1, False for PER_SHARD_V1.
      tpu_job_name: the name of the TPU's job; by default what TF_CONFIG says.
      initial_infeed_sleep_secs: how long it waits before its first input.
      input_partition_dims: how the dimensions of the input are split.
      eval_training_input_configuration: PER_HOST_V1 or SLICED.
      experimental_host_call_every_n_steps: how often to call the host.

    Raises:
      TypeError, ValueError: for what makes no sense.
    """

    __slots__ = ()

    def __new__(
        cls, iterations_per_loop=2, num_shards=None, num_cores_per_replica=None, per_host_input_for_training=True,
        tpu_job_name=None, initial_infeed_sleep_secs=None, input_partition_dims=None,
        eval_training_input_configuration=InputPipelineConfig.PER_HOST_V1, experimental_host_call_every_n_steps=1,
    ):  # fmt: skip
        loop_length(iterations_per_loop)
        if num_shards is not None:
            check_positive_integer(num_shards, "TPUConfig num_shards")
        if input_partition_dims is not None:
            _check_partition(input_partition_dims, per_host_input_for_training, num_cores_per_replica)
        if num_cores_per_replica is not None and num_cores_per_replica not in _CORES:
            raise ValueError(
                f"num_cores_per_replica must be 1, 2, 4, 8, 16, 32, 64, 128; got {num_cores_per_replica}"
            )
        if eval_training_input_configuration not in (InputPipelineConfig.PER_HOST_V1, InputPipelineConfig.SLICED):
            raise ValueError(
                "eval_training_input_configuration must be PER_HOST_V1 or SLICED; got "
                f"{eval_training_input_configuration}"
            )
        if isinstance(per_host_input_for_training, bool):
            kinds = {False: InputPipelineConfig.PER_SHARD_V1, True: InputPipelineConfig.PER_HOST_V1}
            per_host_input_for_training = kinds[per_host_input_for_training]
        if initial_infeed_sleep_secs:
            check_positive_integer(initial_infeed_sleep_secs, "TPUConfig initial_infeed_sleep_secs")
        return super().__new__(
            cls, iterations_per_loop, num_shards, num_cores_per_replica, per_host_input_for_training,
            tpu_job_name or _job_name(), initial_infeed_sleep_secs, input_partition_dims,
            eval_training_input_configuration, experimental_host_call_every_n_steps,
        )  # fmt: skip


def _check_partition(input_partition_dims, per_host_input_for_training, num_cores_per_replica):
    if len(input_partition_dims) not in (1, 2):
        raise ValueError("input_partition_dims must be a list/tuple with one or two elements.")
    if per_host_input_for_training is not InputPipelineConfig.PER_HOST_V2:
        raise ValueError("input_partition_dims is only supported in PER_HOST_V2 mode.")
    if num_cores_per_replica is None:
        raise ValueError("input_partition_dims requires setting num_cores_per_replica.")


def _job_name():
    """What TF_CONFIG calls the job of the TPU, or None."""
    name = json.loads(os.environ.get("TF_CONFIG", "{}")).get("service", {}).get("tpu_worker_job_name")
    if name:
        log().info("Load TPU job name from TF_CONFIG: %s", name)
    return name


@public("contrib.tpu.RunConfig", "estimator.tpu.RunConfig")
class RunConfig(run_config.RunConfig):
    """How a TPUEstimator runs.

    Args:
      tpu_config: a TPUConfig.
      evaluation_master: the target of sessions that evaluate, by default that of those that train.
      master: the target of sessions that train.
      cluster: a cluster resolver instead.
      kwargs: as tf.estimator.RunConfig has them.

    Raises ValueError for both a master and a cluster, and what makes no sense.
    """

    def __init__(self, tpu_config=None, evaluation_master=None, master=None, cluster=None, **kwargs):
        super().__init__(**kwargs)
        self._tpu_config = tpu_config or TPUConfig()
        self._cluster = cluster
        if master is not None:
            if cluster is not None:
                raise ValueError("Both master and cluster are set.")
            self._master = master
        elif cluster:
            self._master = cluster.master()
        if evaluation_master is not None:
            self._evaluation_master = evaluation_master
        elif not self._evaluation_master and self.task_type != TaskType.EVALUATOR:
            self._evaluation_master = self._master
        if cluster:
            self._take_cluster(cluster)

    def _take_cluster(self, cluster):
        self._cluster_spec = cluster.cluster_spec()
        if self._session_config is None:
            self._session_config = ConfigProto(allow_soft_placement=True, isolate_session_state=True)
        if self._session_config.HasField("cluster_def"):
            raise ValueError("You cannot provide a ClusterResolver and session_config.cluster_def.")
        if self._cluster_spec:
            self._session_config.cluster_def.CopyFrom(self._cluster_spec.as_cluster_def())

    _session_config: ConfigProto | None

    def _session_config_in_cluster(self):
        return None  # TPUs are talked to without filters

    @property
    def tpu_config(self):
        """What only TPUs need to know."""
        return self._tpu_config

    @property
    def cluster(self):
        """The cluster resolver, or None."""
        return self._cluster

    def replace(self, **kwargs):
        """A copy with other settings: a `tpu_config`, and any that tf.estimator.RunConfig takes."""
        tpu_config = kwargs.pop("tpu_config", self._tpu_config)
        found = super().replace(**kwargs)
        found._tpu_config = tpu_config
        return found
