"""How strategies put the values of several devices together, which of one device is to do nothing."""

from __future__ import annotations

from stillflow.distribute.values import as_reduce_op
from stillflow.names import public


@public("distribute.CrossDeviceOps", "contrib.distribute.CrossDeviceOps")
class CrossDeviceOps:
    """Sums and means over devices. A value of one device is its own sum and mean."""

    def __init__(self):
        """There is nothing to set up."""

    def reduce(self, reduce_op, per_replica_value, destinations):
        """The sum or mean of the replicas' values, where `destinations` are."""
        return self.reduce_implementation(as_reduce_op(reduce_op), per_replica_value, destinations)

    def batch_reduce(self, reduce_op, value_destination_pairs):
        """The sums or means of several (value, destinations)."""
        return self.batch_reduce_implementation(as_reduce_op(reduce_op), value_destination_pairs)

    def broadcast(self, tensor, destinations):
        """The tensor on all devices of `destinations`."""
        return self.broadcast_implementation(tensor, destinations)

    def reduce_implementation(self, reduce_op, per_replica_value, destinations):
        """What subclasses replace; see `reduce`."""
        return per_replica_value

    def batch_reduce_implementation(self, reduce_op, value_destination_pairs):
        """What subclasses replace; see `batch_reduce`."""
        return [self.reduce_implementation(reduce_op, value, place) for value, place in value_destination_pairs]

    def broadcast_implementation(self, tensor, destinations):
        """What subclasses replace; see `broadcast`."""
        return tensor


@public("distribute.ReductionToOneDevice")
class ReductionToOneDevice(CrossDeviceOps):
    """Reduces on one device."""

    def __init__(self, reduce_to_device=None, accumulation_fn=None):
        super().__init__()
        self.reduce_to_device = reduce_to_device
        self.accumulation_fn = accumulation_fn


@public("distribute.NcclAllReduce")
class NcclAllReduce(CrossDeviceOps):
    """Reduces by NCCL, in so many packs. Raises ValueError for a negative number."""

    def __init__(self, num_packs=1):
        super().__init__()
        if num_packs < 0:
            raise ValueError(f"NCCL all-reduce requires num_packs >= 0, but {num_packs} is specified")


@public("distribute.HierarchicalCopyAllReduce")
class HierarchicalCopyAllReduce(CrossDeviceOps):
    """Reduces in a hierarchy of devices, in so many packs. Raises ValueError for a negative number."""

    def __init__(self, num_packs=1):
        super().__init__()
        if num_packs < 0:
            raise ValueError(f"HierarchicalCopy requires num_packs >= 0, but {num_packs} is specified")


@public("contrib.distribute.AllReduceCrossDeviceOps")
class AllReduceCrossDeviceOps(CrossDeviceOps):
    """Reduces by the algorithm that is named. The arguments are accepted."""

    def __init__(self, all_reduce_alg="nccl", num_packs=1, agg_small_grads_max_bytes=0, agg_small_grads_max_group=10):
        super().__init__()
