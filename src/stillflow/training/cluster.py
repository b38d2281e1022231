"""tf.train.ClusterSpec: which addresses the tasks of a cluster's jobs have."""

from __future__ import annotations

from stillflow.names import public


@public("train.ClusterSpec")
class ClusterSpec:
    """The jobs of a cluster, and their tasks' addresses.

    Args:
      cluster: {name of a job: its addresses, a list or {task: address}}, a ClusterDef message, or a ClusterSpec.

    Raises TypeError for anything else.
    """

    def __init__(self, cluster):
        from stillflow.formats import protobuf

        message = protobuf.message("ClusterDef")
        if isinstance(cluster, dict):
            self._jobs = {name: _tasks_of(name, tasks) for name, tasks in cluster.items()}
            self._cluster_def = message()
            for name in sorted(self._jobs):
                if not isinstance(name, (str, bytes)):
                    raise TypeError(f"Job name {name!r} must be bytes or unicode")
                job = self._cluster_def.job.add(name=name)
                for task, address in sorted(self._jobs[name].items()):
                    if not isinstance(address, (str, bytes)):
                        raise TypeError(f"Task address {address!r} must be bytes or unicode")
                    job.tasks[task] = address
            return
        if isinstance(cluster, ClusterSpec):
            self._cluster_def = message()
            self._cluster_def.CopyFrom(cluster.as_cluster_def())
        elif isinstance(cluster, message):
            self._cluster_def = cluster
        else:
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network addresses, or a "
                "`ClusterDef` protocol buffer"
            )
        self._jobs = {job.name: dict(job.tasks) for job in self._cluster_def.job}

    def __bool__(self):
        return bool(self._jobs)

    def __eq__(self, other):
        return self._jobs == other

    def __ne__(self, other):
        return self._jobs != other

    __hash__ = None  # type: ignore[assignment]

    def __str__(self):
        jobs = self.as_dict()
        return f"ClusterSpec({{{', '.join(f'{name!r}: {jobs[name]!r}' for name in sorted(jobs))}}})"

    def as_dict(self):
        """{job: list of addresses}; of a job that lacks some tasks {task: address}."""
        found: dict = {}
        for name, tasks in self._jobs.items():
            is_dense = bool(tasks) and max(tasks) + 1 == len(tasks)
            found[name] = self.job_tasks(name) if is_dense else dict(sorted(tasks.items()))
        return found

    def as_cluster_def(self):
        """The ClusterDef message."""
        return self._cluster_def

    @property
    def jobs(self):
        """The names of the jobs."""
        return list(self._jobs)

    def num_tasks(self, job_name):
        """How many tasks a job has. Raises ValueError if there is no such job."""
        return len(self._job(job_name))

    def task_indices(self, job_name):
        """The numbers of a job's tasks. Raises ValueError if there is no such job."""
        return sorted(self._job(job_name))

    def task_address(self, job_name, task_index):
        """The address of a task. Raises ValueError if there is no such job or task."""
        job = self._job(job_name)
        if task_index not in job:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}")
        return job[task_index]

    def job_tasks(self, job_name):
        """The addresses of a job's tasks, None where one is missing. Raises ValueError if there is no such job."""
        job = self._job(job_name)
        return [job.get(task) for task in range(max(job) + 1)]

    def _job(self, name):
        if name not in self._jobs:
            raise ValueError(f"No such job in cluster: {name!r}")
        return self._jobs[name]


def _tasks_of(name, tasks):
    if isinstance(tasks, (list, tuple)):
        return dict(enumerate(tasks))
    if isinstance(tasks, dict):
        return dict(tasks)
    raise TypeError(f"The tasks for job {name!r} must be a list or a dictionary from integers to strings.")
