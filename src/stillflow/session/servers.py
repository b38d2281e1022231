"""The servers of this process, as sessions find them: what a target stands for, and whose variables are whose.

A server's session runs in this process, like any other. What makes it the server's is a container of variables and
shared resources that outlives the session, and the names of the cluster's tasks as devices. Servers of one cluster
in one process share the container, in which each task has a place of its own.
"""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
import time
import weakref

from stillflow import _engine, errors
from stillflow.plan.placement import Devices

_SCHEME = "grpc://"
# How long a session waits for tasks of its cluster whose servers may be about to start in another thread.
_PATIENCE_SECONDS = 5.0
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]", "0.0.0.0")

_changed = threading.Condition()
_running: dict[int, LocalTask] = {}  # by port
_numbers = itertools.count()


class LocalTask:
    """A task of a cluster whose server is in this process. Like TensorFlow's, a started server never stops.

    Args:
      jobs: {job: {task: address}} of the cluster.
      job, index: the task.
      config: the server's ConfigProto, which sessions start from.

    Raises:
      InvalidArgumentError: if there is no such task, or its address has no port.
      UnknownError: if something else has the port.
    """

    def __init__(self, jobs, job, index, config):
        self.jobs = jobs
        self.job = job
        self.index = index
        self.config = config
        self.container = None
        if index not in jobs[job]:
            raise errors.InvalidArgumentError(None, None, f'Task {index} was not defined in job "{job}"')
        self.address = jobs[job][index]
        port = _bound_socket(self.address)
        weakref.finalize(self, port.close)
        self.port = port.getsockname()[1]
        self.target = f"{_SCHEME}localhost:{self.port}"
        self._number = next(_numbers)
        self._clearings = 0
        self._clearings_of: dict[str, int] = {}

    def start(self):
        """Lets sessions find the task. A second call changes nothing."""
        with _changed:
            if self.container is None:
                others = [task for task in _running.values() if self._knows(task)]
                self.container = others[0].container if others else _engine.Container()
                _running[self.port] = self
                _changed.notify_all()

    def _knows(self, task):
        return any(_is_of(address, task) for tasks in self.jobs.values() for address in tasks.values())

    def place(self, container):
        """The place of the task in the container that servers share."""
        return f"{self._number}.{self._clearings}.{self._clearings_of.get(container or 'localhost', 0)}:"

    def clear(self, containers):
        """Leaves what is in these containers, or in all, to the sessions that are open; those to come begin anew."""
        if not containers:
            self._clearings += 1
        for container in containers or ():
            self._clearings_of[container] = self._clearings_of.get(container, 0) + 1


class Connection:
    """What a session with a server's target has from it.

    `devices`, `container` and `config` are as a session wants them.
    """

    def __init__(self, target, config):
        task = _task_at(target)
        self.config = _merged(task.config, config)
        own, jobs = (task.job, task.index), task.jobs
        self.container = task.container
        if config is not None and config.cluster_def.job:
            jobs = {job.name: dict(job.tasks) for job in config.cluster_def.job}
            own = _task_in(jobs, task)
            if not self.config.experimental.share_session_state_in_clusterspec_propagation:
                self.container = _engine.Container()  # of a session that makes its own cluster of servers
        self._tasks = {own: task}
        self._tasks.update(_others(own, jobs, self.config.device_filters))
        cpu_count = max(1, task.config.device_count.get("CPU", 1))
        self.devices = Devices(cpu_count, self.config.allow_soft_placement, tuple(sorted(self._tasks)))
        # A session keeps its places, whatever is cleared later.
        self._places: dict[tuple, str] = {}

    def place(self, device, container):
        """Where in the container an operation's variables and resources are, which is assigned to `device`."""
        key = self.devices.task_for(device or "") or self.devices.tasks[0], container
        return self._places.setdefault(key, self._tasks[key[0]].place(container))


def clear(target, containers):
    """Clears the containers of a server, or some of them. Raises as a session's construction does."""
    _task_at(target).clear(containers)


def is_server(target):
    return target.startswith(_SCHEME)


def _task_at(target):
    address = target.removeprefix(_SCHEME)
    with _changed:
        for task in _running.values():
            if _is_of(address, task):
                return task
    raise errors.UnimplementedError(
        None, None, f"No server of this process is at {target}, and servers of other processes cannot be reached"
    )


def _task_in(jobs, task):
    """(job, index) of a server in the cluster that a session's config has. Raises InvalidArgumentError without it."""
    for job, tasks in jobs.items():
        for index, address in tasks.items():
            if _is_of(address, task):
                return job, index
    raise errors.InvalidArgumentError(None, None, f"The master {task.target} is no task of the config's cluster_def")


def _others(own, jobs, filters):
    """{(job, index): LocalTask} of the cluster's tasks but `own`, and but for those that device filters leave out."""
    wanted = {
        (job, index): address
        for job, tasks in sorted(jobs.items())
        for index, address in sorted(tasks.items())
        if (job, index) != own and _passes(job, index, filters)
    }
    deadline = time.monotonic() + _PATIENCE_SECONDS
    with _changed:
        while True:
            found: dict[tuple[str, int], LocalTask] = {}
            for key, address in wanted.items():
                found.update((key, other) for other in _running.values() if _is_of(address, other))
            if len(found) == len(wanted):
                return found
            if not _changed.wait(deadline - time.monotonic()):
                break
    missing = ", ".join(f"/job:{j}/task:{i} at {at}" for (j, i), at in wanted.items() if (j, i) not in found)
    raise errors.UnimplementedError(
        None, None, f"All tasks of a cluster must be servers of one process, which these are not: {missing}"
    )


def _passes(job, index, filters):
    own = Devices(tasks=((job, index),))
    return not filters or any(own.task_for(each) for each in filters)


def _is_of(address, task):
    host, _, port = address.rpartition(":")
    return port == str(task.port) and (host in _LOOPBACK or host == task.address.rpartition(":")[0])


def free_ports(count):
    """Numbers of ports that nothing has now."""
    with contextlib.ExitStack() as stack:
        return [stack.enter_context(_bound_socket("localhost:0")).getsockname()[1] for _ in range(count)]


def _bound_socket(address):
    """A socket that keeps the address's port from other servers; nothing listens at it."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 0xFFFF:
        raise errors.InvalidArgumentError(None, None, f'Could not parse port for local server from "{address}".')
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.bind(("127.0.0.1", int(port)))
    except OSError:
        bound.close()
        raise errors.UnknownError(None, None, "Could not start gRPC server") from None
    return bound


def _merged(server_config, config):
    merged = type(server_config)()
    merged.CopyFrom(server_config)
    if config is not None:
        merged.MergeFrom(config)
    return merged
