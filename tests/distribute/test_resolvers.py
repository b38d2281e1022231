"""Cluster resolvers: what they say of tasks, as TensorFlow 1.15.5 says it."""

import json

import pytest

import stillflow as tf

R = tf.distribute.cluster_resolver


def spec(**jobs):
    return tf.train.ClusterSpec(jobs)


def simple(**options):
    return R.SimpleClusterResolver(spec(ps=["p0"], worker=["w0", "w1"]), **options)


def test_a_simple_resolver_says_what_it_was_told():
    resolver = simple(
        task_type="worker", task_id=1, rpc_layer="grpc", environment="here", num_accelerators={"GPU": 2}
    )
    assert resolver.master() == "grpc://"
    assert resolver.master("ps", 0) == "grpc://p0"
    assert resolver.master("worker", 1, "http") == "http://w1"
    assert (resolver.task_type, resolver.task_id, resolver.environment) == ("worker", 1, "here")
    assert resolver.num_accelerators() == {"GPU": 2}
    assert resolver.cluster_spec() == {"ps": {0: "p0"}, "worker": {0: "w0", 1: "w1"}}
    with pytest.raises(ValueError, match="No task with index 3 in job 'ps'"):
        resolver.master("ps", 3)
    with pytest.raises(TypeError, match=r"cluster_spec must be a ClusterSpec\."):
        R.SimpleClusterResolver({})
    with pytest.raises(TypeError, match=r"master must be a string\."):
        simple(master=3)


def test_a_union_has_the_tasks_of_all():
    first = simple(task_type="worker", task_id=1, rpc_layer="grpc")
    second = R.SimpleClusterResolver(spec(worker=["w2"], x={1: "x1"}))
    union = R.UnionResolver(first, second)
    assert union.cluster_spec().as_dict() == {"ps": ["p0"], "worker": ["w0", "w1", "w2"], "x": {1: "x1"}}
    assert union.master() == "grpc://"
    assert union.master("worker", 2) == "w2"
    assert (union.task_type, union.task_id, union.rpc_layer) == ("worker", 1, "grpc")
    union = R.UnionResolver(first, second, rpc_layer="r", task_type="t", task_id=4)
    assert (union.master("worker", 2), union.task_type, union.task_id) == ("r://w2", "t", 4)
    filled = R.UnionResolver(second, R.SimpleClusterResolver(spec(x=["y0"])))
    assert filled.cluster_spec().as_dict()["x"] == ["y0", "x1"]
    with pytest.raises(KeyError, match=r"Duplicate keys detected when merging two ClusterSpecs: \{1\}"):
        R.UnionResolver(second, R.SimpleClusterResolver(spec(x=["y0", "y1"]))).cluster_spec()


@pytest.mark.parametrize(
    ("resolvers", "options", "kind", "message"),
    [
        ([], {}, ValueError, r"At least one ClusterResolver is required\."),
        ([3], {}, TypeError, "All arguments must be a sub-class of `ClusterResolver.`"),
        ([simple()], {"foo": 3}, ValueError, r"Unexpected kwargs provided \{'foo': 3\}"),
    ],
)
def test_unions_that_are_refused(resolvers, options, kind, message):
    with pytest.raises(kind, match=message):
        R.UnionResolver(*resolvers, **options)


def test_the_environment_says_which_task_this_is(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    resolver = R.TFConfigClusterResolver()
    assert not resolver.cluster_spec()
    assert (resolver.master(), resolver.task_type, resolver.task_id, resolver.rpc_layer) == ("", None, None, None)
    assert resolver.num_accelerators() == {"CPU": 1}
    config = {
        "cluster": {"ps": ["p0"], "worker": ["w0", "w1"]},
        "task": {"type": "worker", "index": "1"},
        "rpc_layer": "grpc",
    }
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    assert (resolver.master(), resolver.master("ps", 0)) == ("grpc://w1", "grpc://p0")
    assert (resolver.task_type, resolver.task_id, resolver.rpc_layer) == ("worker", 1, "grpc")
    other = R.TFConfigClusterResolver(task_type="ps", task_id=0, rpc_layer="x", environment="e")
    assert (other.master(), other.task_type, other.environment) == ("x://p0", "ps", "e")
    monkeypatch.setenv("TF_CONFIG", json.dumps({"session_master": "s"}))
    assert resolver.master() == "s"


class Slurm(R.SlurmClusterResolver):
    def _resolve_hostnames(self):
        return ["h0", "h1", "h2"]


def test_tasks_of_slurm_are_dealt_out(monkeypatch):
    for name in ("OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "SLURM_NTASKS_PER_NODE", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(KeyError, match="SLURM_PROCID"):
        Slurm({"worker": 2})
    monkeypatch.setenv("SLURM_PROCID", "3")
    monkeypatch.setenv("SLURM_NTASKS", "5")
    with pytest.raises(RuntimeError, match="Neither `tasks_per_node` or SLURM_NTASKS_PER_NODE is set"):
        Slurm({"worker": 2})
    monkeypatch.setenv("SLURM_NTASKS_PER_NODE", "2")
    with pytest.raises(RuntimeError, match="Requested more GPUs per node then available"):
        Slurm({"worker": 2})
    with pytest.raises(RuntimeError, match="Requested more tasks then assigned tasks"):
        Slurm({"worker": 2}, gpus_per_node=2)
    resolver = Slurm({"worker": 4, "ps": 1}, gpus_per_node=4, gpus_per_task=2, auto_set_gpu=False)
    tasks = {"ps": ["h0:8888"], "worker": ["h0:8889", "h1:8888", "h1:8889", "h2:8888"]}
    assert resolver.cluster_spec().as_dict() == tasks
    assert resolver.get_task_info() == ("worker", 2)
    assert (resolver.master(), resolver.master("ps", 0, "r")) == ("grpc://h1:8889", "r://h0:8888")
    assert resolver.num_accelerators() == {"GPU": 4}


def test_the_resolver_of_a_tpu_takes_addresses(monkeypatch):
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver
    remote = resolver("grpc://10.1.1.1:8470", coordinator_name="c", coordinator_address="1.2.3.4:5")
    assert (remote.master(), remote.environment) == ("grpc://10.1.1.1:8470", "")
    assert remote.cluster_spec().as_dict() == {"worker": ["10.1.1.1:8470"], "c": ["1.2.3.4:5"]}
    assert [resolver(tpu).master() for tpu in ("local", "", "/bns/x/y:80")] == ["local", "", "/bns/x/y"]
    assert (resolver(["local"]).environment, resolver("").cluster_spec()) == ("google", None)
    monkeypatch.setenv("TPU_NAME", "local")
    assert resolver().master() == "local"
    monkeypatch.delenv("TPU_NAME")
    for tpu, error, message in [
        (None, ValueError, "provide a TPU Name"),
        ([], ValueError, "At least one TPU"),
        (["a", "b"], NotImplementedError, "multiple TPUs"),
        ("name", ImportError, "googleapiclient and oauth2client must be installed"),
    ]:
        with pytest.raises(error, match=message):
            resolver(tpu)


def test_the_resolver_of_a_tpu_asks_a_service_for_names():
    class Service:
        state = "READY"

        def projects(self):
            return self

        locations = nodes = projects

        def get(self, name):
            assert name == "projects/p/locations/z/nodes/n"
            return self

        def execute(self):
            return {"state": self.state, "networkEndpoints": [{"ipAddress": "10.0.0.1", "port": 8470}]}

    resolver = tf.contrib.cluster_resolver.TPUClusterResolver("n", zone="z", project="p", service=Service())
    assert resolver.master() == "grpc://10.0.0.1:8470"
    Service.state = "CREATING"
    with pytest.raises(RuntimeError, match='TPU "n" is not yet ready; state: "CREATING"'):
        resolver.cluster_spec()
