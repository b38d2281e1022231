"""Cluster resolvers: where the tasks of a cluster are, and which of them this is."""

from __future__ import annotations

import abc
import collections
import json
import os

from stillflow.graph.default_graph import default_graph_context
from stillflow.graph.graph import Graph
from stillflow.names import public
from stillflow.session.session import Session
from stillflow.training.cluster import ClusterSpec


def master_url(master, rpc_layer=None):
    """An address with the protocol in front, if one is given."""
    return f"{rpc_layer}://{master}" if rpc_layer else master


@public("distribute.cluster_resolver.ClusterResolver", "contrib.cluster_resolver.ClusterResolver")
class ClusterResolver(abc.ABC):
    """Knows the tasks of a cluster."""

    @abc.abstractmethod
    def cluster_spec(self):
        """The ClusterSpec, as it is now."""

    @abc.abstractmethod
    def master(self, task_type=None, task_id=None, rpc_layer=None):
        """The target of sessions: that of a task, or the cluster's."""

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        """{type of device: how many} of a task, or of all, as a session of the master sees them."""
        graph = Graph()
        with default_graph_context(graph), Session(self.master(task_type, task_id), config=config_proto) as session:
            devices = session.list_devices()
        found: dict[str, int] = collections.defaultdict(int)
        for device in devices:
            is_asked_for = f"/job:{task_type}" in device.name and f"/task:{task_id}" in device.name
            if task_type is None or task_id is None or is_asked_for:
                found[device.device_type] += 1
        return found

    @property
    def environment(self):
        """What the cluster is of; "" if it is not known."""
        return ""


class TaskResolver(ClusterResolver):
    """A resolver in one of the tasks, whose address is the master by default."""

    task_type: str | None
    task_id: int | None
    rpc_layer: str | None

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        """The target of sessions: that of a task, by default of the one that this is; "" if none is known."""
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        if task_type is None or task_id is None:
            return ""
        return master_url(self.cluster_spec().task_address(task_type, task_id), rpc_layer or self.rpc_layer)


@public("distribute.cluster_resolver.SimpleClusterResolver", "contrib.cluster_resolver.SimpleClusterResolver")
class SimpleClusterResolver(ClusterResolver):
    """A cluster that is said.

    Args:
      cluster_spec: a ClusterSpec.
      master: the target of sessions, where no task is asked for.
      task_type, task_id: the task that this is.
      environment: what the cluster is of.
      num_accelerators: {type of device: how many} of a task.
      rpc_layer: the protocol, such as "grpc".

    Raises:
      TypeError: if the first arguments are no ClusterSpec and no string.
    """

    def __init__(
        self,
        cluster_spec,
        master="",
        task_type=None,
        task_id=None,
        environment="",
        num_accelerators=None,
        rpc_layer=None,
    ):
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a ClusterSpec.")
        if not isinstance(master, str):
            raise TypeError("master must be a string.")
        self._cluster_spec = cluster_spec
        self._master = master
        self._environment = environment
        self._num_accelerators = num_accelerators
        self.task_type = task_type
        self.task_id = task_id
        self.rpc_layer = rpc_layer

    def cluster_spec(self):
        return self._cluster_spec

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        master = self._master
        if task_type is not None and task_id is not None:
            master = self._cluster_spec.task_address(task_type, task_id)
        return master_url(master, rpc_layer or self.rpc_layer)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return {} if self._num_accelerators is None else self._num_accelerators

    @property
    def environment(self):
        return self._environment


@public("distribute.cluster_resolver.UnionResolver", "contrib.cluster_resolver.UnionClusterResolver")
class UnionClusterResolver(ClusterResolver):
    """Several clusters as one. What is no part of the tasks is the first's.

    Args:
      *args: the ClusterResolvers.
      task_type, task_id, rpc_layer: as of SimpleClusterResolver, by default those of the first.

    Raises:
      ValueError: without resolvers, and for other arguments.
      TypeError: for what is no resolver.
    """

    def __init__(self, *args, **kwargs):
        self._rpc_layer = kwargs.pop("rpc_layer", None)
        self._task_type = kwargs.pop("task_type", None)
        self._task_id = kwargs.pop("task_id", None)
        if kwargs:
            raise ValueError(f"Unexpected kwargs provided {kwargs!r}")
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        if not all(isinstance(resolver, ClusterResolver) for resolver in args):
            raise TypeError("All arguments must be a sub-class of `ClusterResolver.`")
        self._resolvers = args

    def cluster_spec(self):
        """The ClusterSpec of all tasks: those of jobs of one name one after the other, or by their numbers.

        Raises KeyError if jobs with gaps have the same task twice.
        """
        parts: dict = {}
        for resolver in self._resolvers:
            for job, tasks in resolver.cluster_spec().as_dict().items():
                parts.setdefault(job, []).append(tasks)
        return ClusterSpec({job: _joined(tasks) for job, tasks in parts.items()})

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        if task_type is not None and task_id is not None:
            master = self.cluster_spec().task_address(task_type, task_id)
            return master_url(master, rpc_layer or self._rpc_layer)
        return self._resolvers[0].master(rpc_layer=rpc_layer)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return self._resolvers[0].num_accelerators(task_type, task_id, config_proto)

    @property
    def environment(self):
        return self._resolvers[0].environment

    @property
    def task_type(self):
        return self._task_type or self._resolvers[0].task_type

    @task_type.setter
    def task_type(self, task_type):
        self._task_type = task_type

    @property
    def task_id(self):
        return self._task_id or self._resolvers[0].task_id

    @task_id.setter
    def task_id(self, task_id):
        self._task_id = task_id

    @property
    def rpc_layer(self):
        return self._rpc_layer or self._resolvers[0].rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer):
        self._rpc_layer = rpc_layer


def _joined(parts):
    """The tasks of a job: a list of all if each part is one, else {number: address}."""
    if all(isinstance(tasks, list) for tasks in parts):
        return [address for tasks in parts for address in tasks]
    found: dict = {}
    for tasks in parts:
        numbered = dict(enumerate(tasks)) if isinstance(tasks, list) else tasks
        twice = found.keys() & numbered.keys()
        if twice:
            raise KeyError(f"Duplicate keys detected when merging two ClusterSpecs: {twice!r}")
        found.update(numbered)
    return found


def _tf_config():
    return json.loads(os.environ.get("TF_CONFIG", "{}"))


@public("distribute.cluster_resolver.TFConfigClusterResolver", "contrib.cluster_resolver.TFConfigClusterResolver")
class TFConfigClusterResolver(ClusterResolver):
    """The cluster and task that the environment variable TF_CONFIG says. Arguments replace what is in it."""

    def __init__(self, task_type=None, task_id=None, rpc_layer=None, environment=None):
        self._task_type = task_type
        self._task_id = task_id
        self._rpc_layer = rpc_layer
        self._environment = environment

    def cluster_spec(self):
        return ClusterSpec(_tf_config().get("cluster", {}))

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        """What TF_CONFIG has as "session_master", else a task's address; "" for a cluster of one task or none."""
        config = _tf_config()
        if config.get("session_master") is not None:
            return config["session_master"]
        cluster = self.cluster_spec()
        jobs = cluster.jobs
        if not jobs or (len(jobs) == 1 and len(cluster.job_tasks(jobs[0])) == 1):
            return ""
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        return master_url(cluster.task_address(task_type, task_id), self.rpc_layer)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        return super().num_accelerators(task_type, task_id, config_proto)

    @property
    def environment(self):
        return self._environment

    @property
    def task_type(self):
        if self._task_type is not None:
            return str(self._task_type)
        task = _tf_config().get("task", {})
        return str(task["type"]) if "type" in task else None

    @task_type.setter
    def task_type(self, task_type):
        self._task_type = task_type

    @property
    def task_id(self):
        if self._task_type is not None:
            return int(self._task_id)
        task = _tf_config().get("task", {})
        return int(task["index"]) if "index" in task else None

    @task_id.setter
    def task_id(self, task_id):
        self._task_id = task_id

    @property
    def rpc_layer(self):
        return _tf_config().get("rpc_layer") if self._rpc_layer is None else self._rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer):
        self._rpc_layer = rpc_layer
