"""multi_gpu_model: what programs call to train on several GPUs, of which this machine has none."""

from __future__ import annotations

from stillflow.keras.backend.phases import get_session
from stillflow.names import public


@public("python.keras.utils.multi_gpu_utils._get_available_devices")
def available_devices():
    """The names of the devices of the session, "/job:localhost/replica:0/task:0/device:CPU:0"."""
    return [device.name for device in get_session().list_devices()]


@public("python.keras.utils.multi_gpu_utils._normalize_device_name")
def short_name(name):
    """ "/cpu:0" of a device's name."""
    return "/" + name.lower().split("device:")[1]


@public("keras.utils.multi_gpu_model")
def multi_gpu_model(model, gpus, cpu_merge=True, cpu_relocation=False):
    """A model whose batches are shared out to several GPUs. There are none: all operations run on the CPU.

    Args:
      model: the model.
      gpus: their number, or a list of their numbers.
      cpu_merge: whether the outputs would be put together by the CPU.
      cpu_relocation: whether the model's variables would be the CPU's.

    Raises:
      ValueError: for less than two GPUs, and because these are missing, as in TensorFlow on a machine without them.
    """
    is_listed = isinstance(gpus, (list, tuple))
    if (len(gpus) if is_listed else gpus) <= 1:
        least = "len(gpus) >= 2" if is_listed else "gpus >= 2"
        raise ValueError(
            f"For multi-gpu usage to be effective, call `multi_gpu_model` with `{least}`. Received: `gpus={gpus}`"
        )
    wanted = ["/cpu:0", *(f"/gpu:{number}" for number in (gpus if is_listed else range(gpus)))]
    found = [short_name(name) for name in available_devices()]
    raise ValueError(
        f"To call `multi_gpu_model` with `gpus={gpus}`, we expect the following devices to be available: {wanted}. "
        f"However this machine only has: {found}. Try reducing `gpus`."
    )
