"""GCEClusterResolver and KubernetesClusterResolver: what they ask of a client, and what they make of the answers."""

import sys
from types import SimpleNamespace
from unittest import mock

import pytest

import stillflow as tf

resolvers = tf.contrib.cluster_resolver


def compute_service(addresses, per_page):
    """A service with instances n0, n1, ... of these addresses, listed in pages."""
    pages = [range(len(addresses))[i : i + per_page] for i in range(0, len(addresses), per_page)]
    requests = [
        SimpleNamespace(execute=lambda page=page: {"items": [{"instance": f"https://x/n{i}"} for i in page]})
        for page in pages
    ]
    service = mock.MagicMock()
    groups = service.instanceGroups.return_value
    groups.listInstances.return_value = requests[0]
    groups.listInstances_next.side_effect = [*requests[1:], None] * 10
    service.instances.return_value.get = lambda project, zone, instance: SimpleNamespace(
        execute=lambda: {"networkInterfaces": [{"networkIP": addresses[int(instance[1:])]}]}
    )
    return service


def test_instances_are_sorted_over_pages():
    service = compute_service(["10.3.4.5", "10.2.3.4", "10.1.2.3"], per_page=2)
    resolver = resolvers.GCEClusterResolver("p", "z", "g", 8470, task_type="w", task_id=1, service=service)
    assert resolver.cluster_spec().as_dict() == {"w": ["10.1.2.3:8470", "10.2.3.4:8470", "10.3.4.5:8470"]}
    service.instanceGroups().listInstances.assert_called_with(
        project="p", zone="z", instanceGroups="g", body={"instanceState": "RUNNING"}, orderBy="name"
    )
    assert resolver.master() == "grpc://10.2.3.4:8470"
    assert resolver.master("w", 2, rpc_layer="other") == "other://10.3.4.5:8470"
    resolver.task_id, resolver.rpc_layer = 0, None
    assert resolver.master() == "10.1.2.3:8470"
    with pytest.raises(RuntimeError, match="You cannot reset the task_type"):
        resolver.task_type = "ps"


def pods(**phases):
    return SimpleNamespace(
        items=[
            SimpleNamespace(
                metadata=SimpleNamespace(name=name), status=SimpleNamespace(phase=phase, host_ip=f"ip-{name}")
            )
            for name, phase in phases.items()
        ]
    )


def test_pods_are_found_by_labels():
    found = {
        "a=1": pods(y="Running", x="Running"),
        "a=2": pods(b="Running"),
        "job-name=tensorflow": pods(z="Running"),
    }
    client = SimpleNamespace(list_pod_for_all_namespaces=lambda label_selector: found[label_selector])
    resolver = resolvers.KubernetesClusterResolver(
        {"worker": ["a=1", "a=2"], "ps": ["a=2"]}, 9, override_client=client
    )
    assert resolver.cluster_spec().as_dict() == {"worker": ["ip-x:9", "ip-y:9", "ip-b:9"], "ps": ["ip-b:9"]}
    assert resolver.master() == ""
    assert resolver.master("worker", 2) == "grpc://ip-b:9"
    resolver.task_type, resolver.task_id = "ps", 0
    assert resolver.master() == "grpc://ip-b:9"
    resolver = resolvers.KubernetesClusterResolver(override_client=client)
    assert resolver.cluster_spec().as_dict() == {"worker": ["ip-z:8470"]}


def test_a_pod_that_does_not_run_is_an_error():
    client = SimpleNamespace(list_pod_for_all_namespaces=lambda label_selector: pods(x="Failed"))
    with pytest.raises(RuntimeError, match='Pod "x" is not running; phase: "Failed"'):
        resolvers.KubernetesClusterResolver(override_client=client).cluster_spec()


def test_missing_clients_are_named(monkeypatch):
    for name in ("googleapiclient", "googleapiclient.discovery", "kubernetes", "kubernetes.config"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="googleapiclient must be installed"):
        resolvers.GCEClusterResolver("p", "z", "g", 8470)
    with pytest.raises(ImportError, match="pip install kubernetes"):
        resolvers.KubernetesClusterResolver()
