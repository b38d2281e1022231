"""Functions of tensorflow.python.client.device_lib."""

from __future__ import annotations

import dataclasses

from stillflow.formats import protobuf
from stillflow.names import public
from stillflow.session.process_settings import CPU_ATTRIBUTES

__all__ = ["list_local_devices"]


@public("python.client.device_lib.list_local_devices")
def list_local_devices(session_config=None):
    """The devices of this process as DeviceAttributes messages: one CPU."""
    name, device_type, memory_limit, incarnation = dataclasses.astuple(CPU_ATTRIBUTES)
    found = protobuf.message("DeviceAttributes")(
        name=f"/device:{name.partition('/device:')[2]}",
        device_type=device_type,
        memory_limit=memory_limit,
        incarnation=incarnation,
    )
    found.locality.SetInParent()
    return [found]
