"""The nodes of a Saver: what writes the variables, and what reads and assigns them, under TensorFlow's names."""

from __future__ import annotations

import uuid

from stillflow import ops
from stillflow.formats import protobuf
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.device import DeviceSpec, canonical_name
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group, with_dependencies
from stillflow.ops.convert import convert_to_tensor
from stillflow.saver import saveable as saveables
from stillflow.saver.saveable import ReferenceSaveable, ResourceSaveable, SaveableObject, SaveSpec

V1, V2 = 1, 2


def on_cpu(device):
    """The first CPU of the task that a device belongs to."""
    return DeviceSpec.from_string(device)._replace(device_type="CPU", device_index=0).to_string()


def _by_device(objects):
    """[(device, saveables on it)], in alphabetical order."""
    found: dict = {}
    for saveable in objects:
        devices = {canonical_name(spec.tensor.device) for spec in saveable.specs}
        if len(devices) != 1:
            raise ValueError(f"All tensors of a saveable object must be on the same device: {saveable.name}")
        found.setdefault(devices.pop(), []).append(saveable)
    return sorted(found.items())


@public("python.training.saver.BaseSaverBuilder")
class BaseSaverBuilder:
    """Builds a Saver's nodes, with an operation for each tensor that is read.

    Subclasses may override `save_op`, `restore_op` and `bulk_restore`.
    """

    SaveSpec = SaveSpec
    SaveableObject = SaveableObject
    VariableSaveable = ReferenceSaveable
    ResourceVariableSaveable = ResourceSaveable

    def __init__(self, write_version=V2):
        self._write_version = write_version

    # ---- The pieces -----------------------------------------------------------------------------------------

    def save_op(self, filename_tensor, saveables):
        """The operation that writes `saveables` to one file."""
        specs = [spec for saveable in saveables for spec in saveable.specs]
        names = [spec.name for spec in specs]
        slices = [spec.slice_spec for spec in specs]
        tensors = [spec.tensor for spec in specs]
        if self._write_version == V2:
            return ops.save_v2(filename_tensor, names, slices, tensors)
        if self._write_version == V1:
            return ops.save_slices(filename_tensor, names, slices, tensors, name="save")
        raise RuntimeError(f"Unexpected write_version: {self._write_version}")

    def restore_op(self, filename_tensor, saveable, preferred_shard):
        """The tensors of one saveable, read from the file."""
        return [self._read(filename_tensor, [spec])[0] for spec in saveable.specs]

    def bulk_restore(self, filename_tensor, saveables, preferred_shard, restore_sequentially):
        """The tensors of all saveables, in order."""
        tensors = []
        for saveable in saveables:
            with get_default_graph().device(on_cpu(saveable.device) if saveable.device else None):
                tensors.extend(self.restore_op(filename_tensor, saveable, preferred_shard))
        return tensors

    def sharded_filename(self, filename_tensor, shard, num_shards):
        """The name of a shard's file."""
        return ops.sharded_filename(filename_tensor, shard, num_shards)

    def _read(self, filename_tensor, specs):
        return ops.restore_v2(
            filename_tensor,
            [spec.name for spec in specs],
            [spec.slice_spec for spec in specs],
            dtypes=[spec.dtype.base_dtype for spec in specs],
        )

    # ---- Saving ---------------------------------------------------------------------------------------------

    def _add_save(self, filename_tensor, objects):
        """The file name, once the file is written."""
        return with_dependencies([self.save_op(filename_tensor, objects)], filename_tensor)

    def _add_sharded_save(self, filename_tensor, per_device):
        if self._write_version == V2:
            return self._add_sharded_save_v2(filename_tensor, per_device)
        num_shards = convert_to_tensor(len(per_device), name="num_shards")
        saves = []
        for shard, (device, objects) in enumerate(per_device):
            with get_default_graph().device(device):
                saves.append(self._add_save(self.sharded_filename(filename_tensor, shard, num_shards), objects))
        with get_default_graph().control_dependencies([save.op for save in saves]):
            return ops.sharded_filespec(filename_tensor, num_shards)

    def _add_sharded_save_v2(self, prefix, per_device):
        """Each device writes a checkpoint of its own; these are merged, and leave no trace."""
        graph = get_default_graph()
        temporary = ops.string_join([prefix, f"_temp_{uuid.uuid4().hex}/part"])
        num_shards = convert_to_tensor(len(per_device), name="num_shards")
        names = []
        saves = []
        device = ""
        for shard, (device, objects) in enumerate(per_device):
            with graph.device(on_cpu(device)):
                names.append(self.sharded_filename(temporary, shard, num_shards))
                saves.append(self._add_save(names[-1], objects))
        with graph.control_dependencies([save.op for save in saves]), graph.device(on_cpu(device)):
            merge = ops.merge_v2_checkpoints(names, prefix, delete_old_dirs=True)
            with graph.control_dependencies([merge]):
                return ops.identity(prefix)

    # ---- Restoring ------------------------------------------------------------------------------------------

    def _add_restore(self, filename_tensor, objects, restore_sequentially, reshape, shard=-1, name="restore_all"):
        tensors = iter(self.bulk_restore(filename_tensor, objects, shard, restore_sequentially))
        assigns = []
        for saveable in objects:
            shapes = [_shape_of(spec.tensor) for spec in saveable.specs] if reshape else None
            assigns.append(saveable.restore([next(tensors) for _ in saveable.specs], shapes))
        return group(*assigns, name=name)

    def _add_sharded_restore(self, filename_tensor, per_device, restore_sequentially, reshape):
        shards = []
        for shard, (device, objects) in enumerate(per_device):
            with get_default_graph().device(device):
                shards.append(
                    self._add_restore(filename_tensor, objects, restore_sequentially, reshape, shard, "restore_shard")
                )
        return group(*shards, name="restore_all")

    # ---- All of it ------------------------------------------------------------------------------------------

    def build(
        self, names_to_saveables, reshape=False, sharded=False, max_to_keep=5, keep_checkpoint_every_n_hours=10000.0,
        name=None, restore_sequentially=False, filename="model",
    ):  # fmt: skip
        """Adds the nodes and returns the SaverDef message that names them; the arguments are Saver's."""
        objects = saveables.saveables(names_to_saveables)
        if max_to_keep is None:
            max_to_keep = 0
        with name_scope(name, "save", [saveable.op for saveable in objects]):
            filename_tensor = ops.placeholder_with_default(filename or "model", shape=(), name="filename")
            filename_tensor = ops.placeholder_with_default(filename_tensor, shape=(), name="Const")
            if sharded:
                per_device = _by_device(objects)
                save_tensor = self._add_sharded_save(filename_tensor, per_device)
                restore_op = self._add_sharded_restore(filename_tensor, per_device, restore_sequentially, reshape)
            else:
                save_tensor = self._add_save(filename_tensor, objects)
                restore_op = self._add_restore(filename_tensor, objects, restore_sequentially, reshape)
        return protobuf.message("SaverDef")(
            filename_tensor_name=filename_tensor.name,
            save_tensor_name=save_tensor.name,
            restore_op_name=restore_op.name,
            max_to_keep=max_to_keep,
            sharded=sharded,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            version=self._write_version,
        )


@public("python.training.saver.BulkSaverBuilder")
class BulkSaverBuilder(BaseSaverBuilder):
    """Builds a Saver's nodes, with one operation that reads all tensors."""

    def bulk_restore(self, filename_tensor, saveables, preferred_shard, restore_sequentially):
        specs = [spec for saveable in saveables for spec in saveable.specs]
        with get_default_graph().device("/device:CPU:0"):
            return self._read(filename_tensor, specs)


def _shape_of(tensor):
    """The shape of a variable, as a tensor where it is not known."""
    shape = tensor.get_shape()
    return shape if shape.is_fully_defined() else ops.shape(tensor)
