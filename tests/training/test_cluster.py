"""tf.train.ClusterSpec, and what replica_device_setter refuses."""

import pytest

import stillflow as tf

CLUSTER = {"ps": ["a:1", "b:1"], "worker": {1: "c:1", 3: "d:1"}, "none": []}


def test_a_cluster_by_its_jobs():
    spec = tf.train.ClusterSpec(CLUSTER)
    assert spec.jobs == ["ps", "worker", "none"]
    assert spec.as_dict() == {"ps": ["a:1", "b:1"], "worker": {1: "c:1", 3: "d:1"}, "none": {}}
    assert [spec.num_tasks(job) for job in spec.jobs] == [2, 2, 0]
    assert spec.task_indices("worker") == [1, 3]
    assert spec.task_address("worker", 3) == "d:1"
    assert spec.job_tasks("worker") == [None, "c:1", None, "d:1"]
    assert str(spec) == "ClusterSpec({'none': {}, 'ps': ['a:1', 'b:1'], 'worker': {1: 'c:1', 3: 'd:1'}})"
    assert spec
    assert not tf.train.ClusterSpec({})
    assert spec == {"ps": {0: "a:1", 1: "b:1"}, "worker": {1: "c:1", 3: "d:1"}, "none": {}}
    assert spec != {}


def test_a_cluster_as_a_message_and_back():
    spec = tf.train.ClusterSpec(CLUSTER)
    message = spec.as_cluster_def()
    assert isinstance(message, tf.train.ClusterDef)
    assert [job.name for job in message.job] == ["none", "ps", "worker"]
    assert dict(message.job[2].tasks) == {1: "c:1", 3: "d:1"}
    assert tf.train.ClusterSpec(message).as_dict() == spec.as_dict()
    copy = tf.train.ClusterSpec(spec)
    assert copy.as_cluster_def() == message
    assert copy.as_cluster_def() is not message


@pytest.mark.parametrize(
    ("cluster", "text"),
    [
        (3, "must be a dictionary"),
        ({"a": 3}, "must be a list or a dictionary"),
        ({3: ["a"]}, "Job name 3"),
        ({"a": [3]}, "Task address 3"),
    ],
)
def test_what_is_no_cluster(cluster, text):
    with pytest.raises(TypeError, match=text):
        tf.train.ClusterSpec(cluster)


def test_jobs_and_tasks_that_there_are_not():
    spec = tf.train.ClusterSpec(CLUSTER)
    for call in (spec.num_tasks, spec.task_indices, spec.job_tasks):
        with pytest.raises(ValueError, match="No such job in cluster: 'x'"):
            call("x")
    with pytest.raises(ValueError, match="No task with index 2 in job 'worker'"):
        spec.task_address("worker", 2)


def test_what_a_device_setter_refuses():
    with pytest.raises(TypeError, match="callable"):
        tf.train.replica_device_setter(ps_tasks=1, ps_strategy=3)
    with pytest.raises(TypeError):
        tf.train.replica_device_setter(cluster=3)
