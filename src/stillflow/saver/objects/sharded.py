"""The nodes that write a checkpoint of saveables, and read it: for each device a part of its own."""

from __future__ import annotations

import uuid

from stillflow import ops
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.device import canonical_name
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.ops.convert import convert_to_tensor
from stillflow.saver import at_once
from stillflow.saver.builder import on_cpu


def _by_device(items, saveable_of=lambda item: item):
    """[(device, items)], sorted by device."""
    found: dict = {}
    for item in items:
        found.setdefault(canonical_name(saveable_of(item).device), []).append(item)
    return sorted(found.items())


def add_save(prefix, saveables):
    """The operation that merges the parts that the devices have written into a checkpoint.

    Args:
      prefix: the checkpoint's path, a string tensor.
      saveables: SaveableObjects, at least one.
    """
    graph = get_default_graph()
    by_device = _by_device(saveables)
    with graph.device("/cpu:0"):
        temporary = ops.string_join([prefix, f"_temp_{uuid.uuid4().hex}/part"])
    count = convert_to_tensor(len(by_device), name="num_shards")
    names, saves, device = [], [], ""
    for shard, (device, parts) in enumerate(by_device):
        with graph.device(on_cpu(device)):
            names.append(ops.sharded_filename(temporary, shard, count))
        with graph.device(device or None), graph.device("/cpu:0"):
            saves.append(_save_op(names[-1], [spec for part in parts for spec in part.specs]))
    with graph.control_dependencies(saves), graph.device(on_cpu(device)):
        return ops.merge_v2_checkpoints(names, prefix, delete_old_dirs=True)


def _save_op(filename, specs):
    return ops.save_v2(
        filename,
        [spec.name for spec in specs],
        [spec.slice_spec for spec in specs],
        [spec.tensor for spec in specs],
    )


def add_restore(prefix, items):
    """[(key, operation)]: what restores saveables from a checkpoint; empty where that is done at once.

    Args:
      prefix: the checkpoint's path, a string tensor.
      items: [(key, SaveableObject)].
    """
    graph = get_default_graph()
    made: list = []
    for device, parts in _by_device(items, lambda item: item[1]):
        specs = [spec for _, saveable in parts for spec in saveable.specs]
        with graph.device(device or None):
            with graph.device("/cpu:0"):
                values = iter(
                    ops.restore_v2(
                        prefix,
                        [spec.name for spec in specs],
                        [spec.slice_spec for spec in specs],
                        dtypes=[spec.dtype.base_dtype for spec in specs],
                    )
                )
            made.extend(_assign_restored(parts, values))
    return made


@by_mode
def _assign_restored(items, values):
    """Gives the saveables of `items` the next of `values`; returns (key, operation) of each."""
    return [(key, saveable.restore([next(values) for _ in saveable.specs], None)) for key, saveable in items]


@eager_version_of(_assign_restored)
def assign_at_once(items, values):
    """The same at once: all values are looked at before any is assigned, and no operation is left."""
    at_once.assign([saveable for _, saveable in items], values)
    return []
