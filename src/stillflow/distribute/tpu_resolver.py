"""The resolver of a TPU: by its address, or by its name if a service of Google's cloud is given that knows it."""

from __future__ import annotations

import os
import re

from stillflow.distribute.resolvers import ClusterResolver, master_url
from stillflow.graph.mode import by_outermost_mode, eager_version_of
from stillflow.names import public
from stillflow.platform.compat import as_bytes, as_str
from stillflow.training.cluster import ClusterSpec

_NUMERIC_PORT = re.compile(r":\d+$")


@public("distribute.cluster_resolver.TPUClusterResolver", "contrib.cluster_resolver.TPUClusterResolver")
class TPUClusterResolver(ClusterResolver):
    """Where a TPU is; "" and "local" stand for this process.

    Args:
      tpu: an address, `grpc://host:port`; or "" or "local", which are this process; by default what the environment
        variable KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS or TPU_NAME says.
      zone, project, credentials, service, discovery_url: of Google's cloud, where names are looked up.
      job_name: the job of the TPU's tasks.
      coordinator_name, coordinator_address: another job of the cluster, of one task, and its address.

    Raises:
      ValueError: if no TPU is named.
      NotImplementedError: for a list of several.
      ImportError: for the name of a TPU in Google's cloud, unless a `service` looks it up.
    """

    def __init__(
        self, tpu=None, zone=None, project=None, job_name="worker", coordinator_name=None, coordinator_address=None,
        credentials="default", service=None, discovery_url=None,
    ):  # fmt: skip
        if isinstance(tpu, list):
            if not tpu:
                raise ValueError("At least one TPU must be specified.")
            if len(tpu) != 1:
                raise NotImplementedError("Using multiple TPUs in a single session is not yet implemented")
            tpu = tpu[0]
        if tpu is None:
            tpu = os.environ.get("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS") or os.environ.get("TPU_NAME")
        if tpu is None:
            raise ValueError("Please provide a TPU Name to connect to.")
        tpu = as_str(tpu)
        is_google = tpu in ("", "local") or tpu.startswith(("localhost:", "/bns", "uptc://"))
        is_address = tpu.startswith("grpc://")
        if tpu.startswith("/bns"):
            tpu = _NUMERIC_PORT.sub("", tpu)
        self._tpu = as_bytes(tpu.removeprefix("grpc://"))
        self._environment = "google" if is_google else ""
        self.rpc_layer = None if is_google else "grpc"
        self.task_type, self.task_id = job_name, 0
        self._service, self._project, self._zone = service, project, zone
        self._is_looked_up = not is_google and not is_address
        if self._is_looked_up and service is None:
            raise ImportError(
                "googleapiclient and oauth2client must be installed before using the TPU cluster resolver. Execute: "
                "`pip install --upgrade google-api-python-client` and `pip install --upgrade oauth2client` to "
                "install with pip."
            )
        self._coordinator_name, self._coordinator_address = coordinator_name, coordinator_address

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        """The target of sessions: the address that was given, or that of the TPU's task, by default its first."""
        if not self._is_looked_up:
            return master_url(self._addresses()[0], rpc_layer or self.rpc_layer)
        cluster = self.cluster_spec()
        if task_type is None or task_id is None:
            task_type, task_id = self.task_type, self.task_id
        return master_url(cluster.task_address(task_type, task_id), rpc_layer or self.rpc_layer)

    def get_master(self):
        """The same as `master()`."""
        return self.master()

    def get_job_name(self):
        """The job of the TPU's tasks; None for this process."""
        return self.task_type if self._is_looked_up else _job_name_of_address(self)

    def cluster_spec(self):
        """The ClusterSpec of the TPU's tasks and the coordinator; None for this process in graphs.

        Raises:
          RuntimeError: if a TPU that is looked up is not ready.
          ValueError: if it cannot be looked up.
        """
        if not self._is_looked_up and self.rpc_layer is None and _job_name_of_address(self) is None:
            return None
        jobs = {self.task_type: self._endpoints() if self._is_looked_up else self._addresses()}
        if self._coordinator_address:
            jobs[self._coordinator_name] = [self._coordinator_address]
        return ClusterSpec(jobs)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        """{"TPU": how many cores the master's sessions see}."""
        return {"TPU": super().num_accelerators(config_proto=config_proto).get("TPU", 0)}

    @property
    def environment(self):
        return self._environment

    def _addresses(self):
        return [address.removeprefix("grpc://") for address in as_str(self._tpu).split(",")]

    def _endpoints(self):
        """Addresses of the TPU's tasks, from the service."""
        name = f"projects/{self._project}/locations/{self._zone}/nodes/{as_str(self._tpu)}"
        try:
            found = self._service.projects().locations().nodes().get(name=name).execute()
        except Exception as error:  # whatever the service may raise
            raise ValueError(
                f"Could not lookup TPU metadata from name '{self._tpu}'. Please doublecheck the tpu argument in the "
                f"TPUClusterResolver constructor. Exception: {error}"
            ) from error
        if found.get("state", "READY") != "READY":
            raise RuntimeError(f'TPU "{as_str(self._tpu)}" is not yet ready; state: "{found["state"]}"')
        return [f"{each['ipAddress']}:{each['port']}" for each in found.get("networkEndpoints", [found])]

    def __deepcopy__(self, memo):
        return self


@by_outermost_mode
def _job_name_of_address(resolver):
    """In graphs the job of an address is not known."""
    return


@eager_version_of(_job_name_of_address)
def _job_name_where_operations_run(resolver):
    return resolver.task_type
