"""tf.DeviceSpec: a device by its parts, to be replaced and merged, and what merges one into the devices of nodes."""

from __future__ import annotations

from stillflow.graph import device as devices
from stillflow.names import public


class _Part:
    """A part of a DeviceSpec, which only the changeable kind can set."""

    def __init__(self, convert):
        self._convert = convert

    def __set_name__(self, owner, name):
        self._name = f"_{name}"

    def __get__(self, spec, owner=None):
        return self if spec is None else getattr(spec, self._name)

    def __set__(self, spec, value):
        if not spec._may_change:
            raise AttributeError(f"can't set attribute {self._name[1:]!r}")
        setattr(spec, self._name, None if value is None else self._convert(value))


def _type_of(device_type):
    return device_type.upper() if device_type in ("cpu", "gpu") else str(device_type)


@public("python.framework.device_spec.DeviceSpecV2")
class DeviceSpecV2:
    """A device, in full or in part, that never changes; None for what is not said."""

    __slots__ = ("_device_index", "_device_type", "_job", "_may_change", "_replica", "_task")

    job = _Part(str)
    replica = _Part(int)
    task = _Part(int)
    device_type = _Part(_type_of)
    device_index = _Part(int)

    def __init__(self, job=None, replica=None, task=None, device_type=None, device_index=None):
        self._may_change = True
        self._set((job, replica, task, device_type, device_index))
        self._may_change = isinstance(self, DeviceSpec)

    def _set(self, parts):
        self.job, self.replica, self.task, self.device_type, self.device_index = parts

    @classmethod
    def from_string(cls, spec):
        """Raises ValueError for what is not a device string."""
        return cls(*devices.DeviceSpec.from_string(spec))

    def parse_from_string(self, spec):
        """Another DeviceSpec: what the string says."""
        return self.from_string(spec)

    def _plain(self):
        return devices.DeviceSpec(self.job, self.replica, self.task, self.device_type, self.device_index)

    def to_string(self):
        """The device string, such as "/job:ps/task:1/device:CPU:0"."""
        return self._plain().to_string()

    def make_merged_spec(self, dev):
        """A new spec: what `dev` says, and what only this one says."""
        return type(self)(*dev._plain().merged_under(self._plain()))

    def replace(self, **kwargs):
        """A copy in which some parts are others."""
        return type(self)(**{**self._plain()._asdict(), **kwargs})

    def __eq__(self, other):
        return isinstance(other, type(self)) and self.to_string() == other.to_string()

    def __hash__(self):
        return hash(self.to_string())


@public("DeviceSpec", "python.framework.device_spec.DeviceSpecV1")
class DeviceSpec(DeviceSpecV2):
    """A device, in full or in part; None for what is not said. Its parts can be set."""

    __slots__ = ()

    def parse_from_string(self, spec):
        """Becomes what the string says; returns itself."""
        self._set(devices.DeviceSpec.from_string(spec))
        return self

    def merge_from(self, dev):
        """Takes what `dev` says over what it says itself."""
        self._set(dev._plain().merged_under(self._plain()))

    __hash__ = DeviceSpecV2.__hash__


@public("python.framework.device.is_device_spec")
def is_device_spec(obj):
    """Whether it is a DeviceSpec, of either kind."""
    return isinstance(obj, DeviceSpecV2)


@public("python.framework.device.check_valid")
def check_valid(spec):
    """Raises ValueError for what is not a device string."""
    DeviceSpec.from_string(spec)


@public("python.framework.device.MergeDevice")
class MergeDevice:
    """A device function for tf.device: what a node's device does not say is taken from a device."""

    def __init__(self, spec):
        self._spec = spec if is_device_spec(spec) else DeviceSpec.from_string(spec or "")

    def __call__(self, node_def):
        return self._spec.make_merged_spec(DeviceSpec.from_string(node_def.device or ""))

    def shortcut_string_merge(self, node_def):
        """The merged device, as a string."""
        return self(node_def).to_string()

    def __repr__(self):
        return f"{super().__repr__()} (spec: {self._spec.to_string()})"

    @property
    def is_null_merge(self):
        """Whether the device says nothing."""
        return not self._spec.to_string()


@public("python.framework.device.merge_device")
def merge_device(spec):
    """A device function that merges a device string, or DeviceSpec, into the devices of nodes."""
    return spec if isinstance(spec, MergeDevice) else MergeDevice(spec)
