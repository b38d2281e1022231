"""tf.train.Server: a task of a cluster, whose variables outlive the sessions that connect to it."""

from __future__ import annotations

import threading

from stillflow import errors
from stillflow.formats import protobuf
from stillflow.names import public
from stillflow.session.servers import LocalTask, free_ports
from stillflow.training.cluster import ClusterSpec


@public("train.Server", "distribute.Server")
class Server:
    """A task of a cluster. `tf.Session(server.target)` is a session of it.

    Sessions of one server have their variables and shared queues in common. The servers of a cluster must all be in
    one process: it has a thread for each task, or but one task. Nothing listens at their addresses.

    Args:
      server_or_cluster_def: what tf.train.ClusterSpec takes, or a ServerDef message.
      job_name, task_index: the task; where the cluster has but one job, or the job one task, they may be left out.
      protocol: "grpc", the default.
      config: a ConfigProto that sessions of the server start from.
      start: whether to start it at once.

    Raises:
      TypeError: if the first argument is none of these.
      ValueError: if the task is not said and not the only one.
      tf.errors.InvalidArgumentError: if the cluster has no such task, or its address no port.
      tf.errors.NotFoundError: for another protocol.
      tf.errors.UnknownError: if something else has the port.
    """

    def __init__(self, server_or_cluster_def, job_name=None, task_index=None, protocol=None, config=None, start=True):
        self._server_def = _make_server_def(server_or_cluster_def, job_name, task_index, protocol, config)
        definition = self._server_def
        if definition.protocol != "grpc":
            raise errors.NotFoundError(
                None,
                None,
                f"No server factory registered for the given ServerDef: {definition}\n"
                "The available server factories are: [ GRPC_SERVER ]",
            )
        jobs = {job.name: dict(job.tasks) for job in definition.cluster.job}
        if definition.job_name not in jobs:
            raise errors.InternalError(None, None, f'Job "{definition.job_name}" was not defined in cluster')
        self._task = LocalTask(jobs, definition.job_name, definition.task_index, definition.default_session_config)
        if start:
            self.start()

    def start(self):
        """Lets sessions connect to it. A second call changes nothing."""
        self._task.start()

    def join(self):
        """Waits until the server stops, which it never does before the process ends."""
        threading.Event().wait()

    @property
    def server_def(self):
        """The ServerDef message."""
        return self._server_def

    @property
    def target(self):
        """What sessions take as their `target` to connect to it: "grpc://localhost:PORT"."""
        return self._task.target

    @staticmethod
    def create_local_server(config=None, start=True):
        """A server that is a cluster of its own, at a free port."""
        return Server({"local": ["localhost:0"]}, protocol="grpc", config=config, start=start)


@public("test.create_local_cluster")
def create_local_cluster(num_workers, num_ps, protocol="grpc", worker_config=None, ps_config=None):
    """The servers of a cluster in this process, at free ports: (those of job "worker", those of job "ps")."""
    ports = free_ports(num_workers + num_ps)
    addresses = [f"localhost:{port}" for port in ports]
    cluster = ClusterSpec({"worker": addresses[:num_workers], "ps": addresses[num_workers:]})
    workers = [
        Server(cluster, job_name="worker", protocol=protocol, task_index=i, config=worker_config)
        for i in range(num_workers)
    ]
    return workers, [
        Server(cluster, job_name="ps", protocol=protocol, task_index=i, config=ps_config) for i in range(num_ps)
    ]


def _make_server_def(server_or_cluster_def, job_name, task_index, protocol, config):
    message = protobuf.message("ServerDef")
    if isinstance(server_or_cluster_def, message):
        definition = message()
        definition.CopyFrom(server_or_cluster_def)
        if job_name is not None:
            definition.job_name = job_name
        if task_index is not None:
            definition.task_index = task_index
        if protocol is not None:
            definition.protocol = protocol
    else:
        try:
            cluster = ClusterSpec(server_or_cluster_def)
        except TypeError:
            raise TypeError(
                "Could not convert `server_or_cluster_def` to a `tf.train.ServerDef` or `tf.train.ClusterSpec`."
            ) from None
        if job_name is None:
            job_name = _only(cluster.jobs, "job_name")
        if task_index is None:
            task_index = _only(cluster.task_indices(job_name), "task_index")
        definition = message(
            cluster=cluster.as_cluster_def(), job_name=job_name, task_index=task_index, protocol=protocol or "grpc"
        )
    if config is not None:
        definition.default_session_config.MergeFrom(config)
    return definition


def _only(items, argument):
    if len(items) != 1:
        raise ValueError(f"Must specify an explicit `{argument}`.")
    return items[0]
