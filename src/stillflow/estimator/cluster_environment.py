"""TF_CONFIG: what the environment says about the cluster that a program is a part of, and its place in it."""

from __future__ import annotations

import json
import os

from stillflow.names import public
from stillflow.training.cluster import ClusterSpec
from stillflow.training_loop.messages import log

LOCAL_MASTER = ""


@public("python.estimator.run_config.TaskType")
class TaskType:
    """What the tasks of a cluster are called."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"


def read():
    """What TF_CONFIG says, a dict. Raises ValueError if it is no JSON."""
    found = json.loads(os.environ.get("TF_CONFIG", "{}"))
    if found:
        log().info("TF_CONFIG environment variable: %s", found)
    return found


def model_dir(environment, given):
    """The folder of the model: the one given, or that of the environment.

    Raises ValueError if one is empty, or they are not the same.
    """
    if given == "":
        raise ValueError("model_dir should be non-empty.")
    found = environment.get("model_dir")
    if found == "":
        raise ValueError("model_dir in TF_CONFIG should be non-empty.")
    if found:
        if given and found != given:
            raise ValueError(
                "`model_dir` provided in RunConfig construct, if set, must have the same value as the model_dir in "
                f'TF_CONFIG. model_dir: {given}\nTF_CONFIG["model_dir"]: {found}.\n'
            )
        log().info("Using model_dir in TF_CONFIG: %s", found)
    return given or found


def settings(environment):
    """What a RunConfig has of the environment, in TensorFlow's order. Raises ValueError for what makes no sense."""
    service = environment.get("service")
    if service is not None and not isinstance(service, dict):
        raise TypeError(f'If "service" is set in TF_CONFIG, it must be a dict. Given {type(service)}')
    cluster = ClusterSpec(environment.get("cluster", {}))
    found = {"service": service, "cluster_spec": cluster}
    if not cluster:
        return {**found, **_alone(environment)}
    if TaskType.MASTER in cluster.jobs:
        return {**found, **_in_cluster_with_master(environment, cluster)}
    return {**found, **_in_cluster(environment, cluster)}


def _alone(environment):
    task = environment.get("task", {})
    task_type, task_id = task.get("type", TaskType.WORKER), int(task.get("index", 0))
    if task_type != TaskType.WORKER:
        raise ValueError('If "cluster" is not set in TF_CONFIG, task type must be WORKER.')
    if task_id != 0:
        raise ValueError('If "cluster" is not set in TF_CONFIG, task index must be 0.')
    return {
        "task_type": task_type,
        "task_id": task_id,
        "global_id_in_cluster": 0,
        "master": environment.get("session_master", LOCAL_MASTER),
        "evaluation_master": environment.get("eval_session_master", LOCAL_MASTER),
        "is_chief": True,
        "num_ps_replicas": 0,
        "num_worker_replicas": 1,
    }


def _in_cluster(environment, cluster):
    task_type, task_id = _task(environment, cluster, TaskType.CHIEF)
    found = {
        "task_type": task_type,
        "task_id": task_id,
        "evaluation_master": _evaluation_master(environment, task_type),
    }
    if task_type == TaskType.EVALUATOR:  # which stands outside
        found.update(
            cluster_spec=ClusterSpec({}),
            master=LOCAL_MASTER,
            num_ps_replicas=0,
            num_worker_replicas=0,
            global_id_in_cluster=None,
        )
    else:
        found.update(
            master=_session_master(environment, cluster, task_type, task_id),
            num_ps_replicas=_count(cluster, TaskType.PS),
            num_worker_replicas=_count(cluster, TaskType.WORKER) + _count(cluster, TaskType.CHIEF),
            global_id_in_cluster=_global_id(cluster, task_type, task_id, TaskType.CHIEF),
        )
    return {**found, "is_chief": task_type == TaskType.CHIEF}


def _in_cluster_with_master(environment, cluster):
    if TaskType.CHIEF in cluster.jobs:
        raise ValueError("If `master` node exists in `cluster`, job `chief` is not supported.")
    task_type, task_id = _task(environment, cluster, TaskType.MASTER)
    if task_type == TaskType.EVALUATOR:
        raise ValueError("If `master` node exists in `cluster`, task_type `evaluator` is not supported.")
    return {
        "task_type": task_type,
        "task_id": task_id,
        "global_id_in_cluster": _global_id(cluster, task_type, task_id, TaskType.MASTER),
        "master": _session_master(environment, cluster, task_type, task_id),
        "evaluation_master": _evaluation_master(environment, task_type),
        "num_ps_replicas": _count(cluster, TaskType.PS),
        "num_worker_replicas": _count(cluster, TaskType.WORKER) + _count(cluster, TaskType.MASTER),
        "is_chief": task_type == TaskType.MASTER,
    }


def _task(environment, cluster, chief):
    """The type and number of this task."""
    if chief not in cluster.jobs:
        raise ValueError(f'If "cluster" is set in TF_CONFIG, it must have one "{chief}" node.')
    if len(cluster.job_tasks(chief)) > 1:
        raise ValueError(f'The "cluster" in TF_CONFIG must have only one "{chief}" node.')
    task = environment.get("task", {})
    task_type, task_id = task.get("type"), task.get("index")
    if not task_type:
        raise ValueError('If "cluster" is set in TF_CONFIG, task type must be set.')
    if task_id is None:
        raise ValueError('If "cluster" is set in TF_CONFIG, task index must be set.')
    task_id = int(task_id)
    if task_id < 0:
        raise ValueError("Task index must be non-negative number.")
    if task_type == TaskType.EVALUATOR:
        return task_type, task_id
    source = "Note that these values may be coming from the TF_CONFIG environment variable."
    if task_type not in cluster.jobs:
        raise ValueError(f"{task_type} is not a valid task_type in the cluster_spec:\n{cluster}\n\n{source}")
    if task_id >= len(cluster.job_tasks(task_type)):
        raise ValueError(
            f"{task_id} is not a valid task_id for task_type {task_type} in the cluster_spec:\n{cluster}\n\n{source}"
        )
    return task_type, task_id


def _count(cluster, job):
    return len(cluster.as_dict().get(job, ()))


def _session_master(environment, cluster, task_type, task_id):
    if "session_master" in environment:
        return environment["session_master"]
    jobs = cluster.jobs
    if len(jobs) == 1 and len(cluster.job_tasks(jobs[0])) == 1:
        return LOCAL_MASTER
    return "grpc://" + cluster.job_tasks(task_type)[task_id]


def _evaluation_master(environment, task_type):
    return environment.get("eval_session_master", LOCAL_MASTER) if task_type == TaskType.EVALUATOR else LOCAL_MASTER


def _global_id(cluster, task_type, task_id, chief):
    """The number of a task among those of all jobs: the chief, the others by their names, parameter servers last."""
    others = sorted(job for job in cluster.jobs if job not in (chief, TaskType.PS))
    jobs = [chief, *others, *([TaskType.PS] if TaskType.PS in cluster.jobs else [])]
    before = jobs[: jobs.index(task_type)]
    return sum(len(cluster.job_tasks(job)) for job in before) + task_id
