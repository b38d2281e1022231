"""tf.DeviceSpec: a device by its parts, to be changed and merged."""

from __future__ import annotations

from stillflow.graph import device as devices
from stillflow.names import public


@public("DeviceSpec")
class DeviceSpec:
    """A device, in full or in part; None for what is not said."""

    def __init__(self, job=None, replica=None, task=None, device_type=None, device_index=None):
        self.job = None if job is None else str(job)
        self.replica = None if replica is None else int(replica)
        self.task = None if task is None else int(task)
        self.device_type = None if device_type is None else _type_of(device_type)
        self.device_index = None if device_index is None else int(device_index)

    @classmethod
    def from_string(cls, spec):
        """Raises ValueError for what is not a device string."""
        return cls(*devices.DeviceSpec.from_string(spec))

    def parse_from_string(self, spec):
        """Becomes what the string says; returns itself."""
        self.__init__(*devices.DeviceSpec.from_string(spec))  # type: ignore[misc]
        return self

    def _plain(self):
        return devices.DeviceSpec(self.job, self.replica, self.task, self.device_type, self.device_index)

    def to_string(self):
        """The device string, such as "/job:ps/task:1/device:CPU:0"."""
        return self._plain().to_string()

    def merge_from(self, dev):
        """Takes what `dev` says over what it says itself."""
        self.__init__(*dev._plain().merged_under(self._plain()))  # type: ignore[misc]

    def make_merged_spec(self, dev):
        """A new spec: what `dev` says, and what only this one says."""
        return type(self)(*dev._plain().merged_under(self._plain()))

    def replace(self, **kwargs):
        """A copy in which some parts are others."""
        return type(self)(**{**self._plain()._asdict(), **kwargs})

    def __eq__(self, other):
        return isinstance(other, DeviceSpec) and self._plain() == other._plain()

    def __hash__(self):
        return hash(self._plain())


def _type_of(device_type):
    return device_type.upper() if device_type.lower() in ("cpu", "gpu") else device_type
