"""SlurmClusterResolver: the cluster that a job of the scheduler Slurm is."""

from __future__ import annotations

import os
import subprocess

from stillflow.distribute.resolvers import TaskResolver
from stillflow.names import public
from stillflow.training.cluster import ClusterSpec


@public("distribute.cluster_resolver.SlurmClusterResolver", "contrib.cluster_resolver.SlurmClusterResolver")
class SlurmClusterResolver(TaskResolver):
    """The tasks of a Slurm job, whose hosts `scontrol` names, dealt out to the cluster's jobs in alphabetical order.

    Args:
      jobs: {name of a job: how many tasks it has}.
      port_base: the port of the first task of each host; the others' follow.
      gpus_per_node, gpus_per_task: how many GPUs a host has, and a task.
      tasks_per_node: how many tasks a host has; by default what SLURM_NTASKS_PER_NODE says.
      auto_set_gpu: whether to set CUDA_VISIBLE_DEVICES to those of this task.
      rpc_layer: the protocol.

    Raises:
      KeyError: outside of Slurm and Open MPI.
      RuntimeError: if the numbers do not fit.
    """

    def __init__(
        self,
        jobs,
        port_base=8888,
        gpus_per_node=1,
        gpus_per_task=1,
        tasks_per_node=None,
        auto_set_gpu=True,
        rpc_layer="grpc",
    ):
        rank, size = "SLURM_PROCID", "SLURM_NTASKS"
        if "OMPI_COMM_WORLD_RANK" in os.environ:
            rank, size = "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"
        self._rank = int(os.environ[rank])
        task_count = int(os.environ[size])
        if tasks_per_node is None:
            if "SLURM_NTASKS_PER_NODE" not in os.environ:
                raise RuntimeError("Neither `tasks_per_node` or SLURM_NTASKS_PER_NODE is set.")
            tasks_per_node = int(os.environ["SLURM_NTASKS_PER_NODE"])
        self._jobs = dict(sorted(jobs.items()))
        self._port_base = port_base
        self._gpus_per_node = gpus_per_node
        self._gpus_per_task = gpus_per_task
        self._tasks_per_node = tasks_per_node
        self._auto_set_gpu = auto_set_gpu
        self.task_type = None
        self.task_id = None
        self.rpc_layer = rpc_layer
        if tasks_per_node * gpus_per_task > gpus_per_node:
            raise RuntimeError("Requested more GPUs per node then available.")
        if sum(self._jobs.values()) != task_count:
            raise RuntimeError("Requested more tasks then assigned tasks.")

    def _resolve_hostnames(self):
        shown = subprocess.check_output(["scontrol", "show", "hostname"])
        return shown.decode().strip().split("\n")

    def cluster_spec(self):
        """The ClusterSpec. It finds out which task this is, and sets CUDA_VISIBLE_DEVICES if that was asked for."""
        addresses, gpus = [], []
        for host in self._resolve_hostnames():
            starts = range(0, self._gpus_per_node, self._gpus_per_task)
            for offset, first in zip(range(self._tasks_per_node), starts, strict=False):
                addresses.append(f"{host}:{self._port_base + offset}")
                gpus.append(",".join(str(gpu) for gpu in range(first, first + self._gpus_per_task)))
        tasks, start = {}, 0
        for job, count in self._jobs.items():
            tasks[job] = addresses[start : start + count]
            if start <= self._rank < start + count:
                self.task_type, self.task_id = job, self._rank - start
            start += count
        if self._auto_set_gpu is True:
            os.environ["CUDA_VISIBLE_DEVICES"] = gpus[self._rank]
        return ClusterSpec(tasks)

    def get_task_info(self):
        """(job, number) of this task, once `cluster_spec` was called."""
        return self.task_type, self.task_id

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return {"GPU": self._gpus_per_node}
