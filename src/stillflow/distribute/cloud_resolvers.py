"""Cluster resolvers that ask where the tasks run: Google Compute Engine and Kubernetes."""

from __future__ import annotations

import importlib

from stillflow.distribute.resolvers import TaskResolver
from stillflow.names import public
from stillflow.training.cluster import ClusterSpec


def _client(module, message):
    """A module of a client library, imported when it is needed. Raises ImportError with a message of ours."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(message) from error


@public("distribute.cluster_resolver.GCEClusterResolver", "contrib.cluster_resolver.GCEClusterResolver")
class GCEClusterResolver(TaskResolver):
    """The running instances of a group in Google Compute Engine.

    Args:
      project, zone, instance_group: names of the group.
      port: that of the tasks' servers.
      task_type: the job of the tasks.
      task_id: which of them this is.
      rpc_layer: the protocol, such as "grpc".
      credentials: for the service; by default the application's.
      service: what googleapiclient.discovery.build("compute", "v1") returns; by default that is called.

    Raises:
      ImportError: if there is no `service`, and googleapiclient is not installed.
    """

    def __init__(
        self, project, zone, instance_group, port, task_type="worker", task_id=0, rpc_layer="grpc",
        credentials="default", service=None,
    ):  # fmt: skip
        self._group = {"project": project, "zone": zone, "instanceGroups": instance_group}
        self._port = port
        self._task_type = task_type
        self.task_id = task_id
        self.rpc_layer = rpc_layer
        self._service = _compute_service(credentials) if service is None else service

    @property
    def task_type(self):
        """The job of the tasks. Raises RuntimeError when it is set."""
        return self._task_type

    @task_type.setter
    def task_type(self, task_type):
        raise RuntimeError("You cannot reset the task_type of the GCEClusterResolver after it has been created.")

    def cluster_spec(self):
        """The ClusterSpec of the instances that run now."""
        groups, instances = self._service.instanceGroups(), self._service.instances()
        place = {key: self._group[key] for key in ("project", "zone")}
        addresses = []
        request = groups.listInstances(**self._group, body={"instanceState": "RUNNING"}, orderBy="name")
        while request is not None:
            response = request.execute()
            for item in response["items"]:
                details = instances.get(**place, instance=item["instance"].split("/")[-1])
                if details is not None:
                    address = details.execute()["networkInterfaces"][0]["networkIP"]
                    addresses.append(f"{address}:{self._port}")
            request = groups.listInstances_next(previous_request=request, previous_response=response)
        return ClusterSpec({self._task_type: sorted(addresses)})


def _compute_service(credentials):
    message = "googleapiclient must be installed before using the GCE cluster resolver"
    discovery = _client("googleapiclient.discovery", message)
    if credentials == "default":
        credentials = _client("oauth2client.client", message).GoogleCredentials.get_application_default()
    return discovery.build("compute", "v1", credentials=credentials)


@public("distribute.cluster_resolver.KubernetesClusterResolver", "contrib.cluster_resolver.KubernetesClusterResolver")
class KubernetesClusterResolver(TaskResolver):
    """The pods that labels select in Kubernetes.

    Args:
      job_to_label_mapping: {job: [selector of labels]}; {"worker": ["job-name=tensorflow"]} by default.
      tf_server_port: that of the tasks' servers.
      rpc_layer: the protocol, such as "grpc".
      override_client: a kubernetes.client.CoreV1Api; made by default.

    Raises:
      ImportError: if there is no `override_client`, and the client for Kubernetes is not installed.
    """

    def __init__(self, job_to_label_mapping=None, tf_server_port=8470, rpc_layer="grpc", override_client=None):
        self._selectors = job_to_label_mapping or {"worker": ["job-name=tensorflow"]}
        self._port = tf_server_port
        self._client = override_client or self._new_client()
        self.task_type = None
        self.task_id = None
        self.rpc_layer = rpc_layer

    @staticmethod
    def _new_client():
        message = (
            "The Kubernetes Python client must be installed before using the Kubernetes Cluster Resolver. To install "
            "the Kubernetes Python client, run `pip install kubernetes` on your command line."
        )
        _client("kubernetes.config", message).load_kube_config()
        return _client("kubernetes.client", message).CoreV1Api()

    def cluster_spec(self):
        """The ClusterSpec of the pods that there are now. Raises RuntimeError for one that does not run."""
        jobs = {}
        for job, selectors in self._selectors.items():
            jobs[job] = [
                self._address(pod)
                for selector in selectors
                for pod in sorted(
                    self._client.list_pod_for_all_namespaces(label_selector=selector).items,
                    key=lambda pod: pod.metadata.name,
                )
            ]
        return ClusterSpec(jobs)

    def _address(self, pod):
        if pod.status.phase != "Running":
            raise RuntimeError(f'Pod "{pod.metadata.name}" is not running; phase: "{pod.status.phase}"')
        return f"{pod.status.host_ip}:{self._port}"
