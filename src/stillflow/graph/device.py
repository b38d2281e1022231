"""Device strings: "/job:worker/task:1/device:CPU:0" and the ways to abbreviate them."""

from __future__ import annotations

from typing import NamedTuple

from stillflow.names import public


class _UnknownAttribute(Exception):
    pass


class DeviceSpec(NamedTuple):
    """The parts of a device string; None where one is not said."""

    job: str | None = None
    replica: int | None = None
    task: int | None = None
    device_type: str | None = None
    device_index: int | None = None

    @classmethod
    def from_string(cls, text: str) -> DeviceSpec:
        """Raises ValueError for what is not a device string."""
        parts: dict = {}
        for piece in text.split("/"):
            if piece:
                names_type = "device_type" in parts
                cls._parse_piece(piece, text, parts)
                if names_type and piece.split(":")[0].lower() in ("cpu", "gpu", "device"):
                    raise ValueError(f"Cannot specify multiple device types: {text}")
        return cls(**parts)

    @staticmethod
    def _parse_piece(piece: str, text: str, parts: dict):
        fields = piece.split(":")
        key = fields[0]
        try:
            if key == "job" and len(fields) == 2:
                parts["job"] = fields[1]
            elif key in ("replica", "task") and len(fields) == 2:
                parts[key] = int(fields[1])
            elif key.lower() in ("cpu", "gpu") and len(fields) <= 2:
                parts["device_type"] = key.upper()
                if len(fields) == 2 and fields[1] != "*":
                    parts["device_index"] = int(fields[1])
            elif key == "device" and len(fields) <= 3:
                if fields[1] != "*":
                    parts["device_type"] = fields[1].upper() if fields[1].islower() else fields[1]
                if len(fields) == 3 and fields[2] != "*":
                    parts["device_index"] = int(fields[2])
            else:
                raise _UnknownAttribute
        except (LookupError, _UnknownAttribute):
            raise ValueError(f"Unknown attribute: '{key}' in '{text}'") from None

    def to_string(self) -> str:
        text = ""
        if self.job is not None:
            text += f"/job:{self.job}"
        if self.replica is not None:
            text += f"/replica:{self.replica}"
        if self.task is not None:
            text += f"/task:{self.task}"
        if self.device_type is not None:
            index = "*" if self.device_index is None else self.device_index
            text += f"/device:{self.device_type}:{index}"
        return text

    def merged_under(self, outer: DeviceSpec) -> DeviceSpec:
        """This spec, with what it does not say taken from `outer`."""
        return DeviceSpec._make(outer[i] if own is None else own for i, own in enumerate(self))


@public("python.framework.device.canonical_name")
def canonical_name(device) -> str:
    """The full spelling of a device string or DeviceSpec; "" for None."""
    if device is None:
        return ""
    if hasattr(device, "to_string"):
        return device.to_string()
    return DeviceSpec.from_string(device).to_string()


def name_as_given(device) -> str:
    """What a function says, or `_set_device` is told: a string stays as it is spelled; "" for None."""
    full = canonical_name(device)  # an error for what is no device
    return device if isinstance(device, str) else full


def apply(device, current: str) -> str:
    """The device of a node that has `current`, inside `tf.device(device)`: what it has already stays."""
    if not isinstance(device, DeviceSpec):
        device = DeviceSpec.from_string(canonical_name(device))
    spec = device
    if not current:
        return spec.to_string()
    return DeviceSpec.from_string(current).merged_under(spec).to_string()
