"""One restoration of objects from a checkpoint, which goes on as further objects come."""

from __future__ import annotations

import collections
import itertools
import logging
from typing import Any

from stillflow import _engine
from stillflow.graph.name_scope import init_scope
from stillflow.plan.emit import engine_variable
from stillflow.saver import restoring
from stillflow.saver.checkpoint_reader import CheckpointReader
from stillflow.saver.objects import sharded
from stillflow.saver.objects.object_graph import path_names, saveables_under
from stillflow.saver.objects.python_state import PythonValue
from stillflow.session.session import BaseSession

_numbers = itertools.count()
_log = logging.getLogger("tensorflow")


def next_uid():
    """A number that is larger for later restorations."""
    return next(_numbers)


class Restoration:
    """What has been found of the objects in a checkpoint, and the operations that restore them."""

    def __init__(self, proto, path, prefix_tensor, known_ops):
        self.proto = proto
        self.path = path
        self.uid = next_uid()
        self.objects: dict = {}  # number in the checkpoint -> object
        self.seen: dict = {}  # id -> object that the program has
        self.unused_attributes: dict = {}  # number -> names of values that the object has no place for
        self.restore_ops: list = []
        self.run_new_operations: Any = None  # what runs operations that are added from now on
        self.slots: dict = {}  # number of a variable -> its slots that have not been restored
        self.expects_partial = False
        self._prefix_tensor = prefix_tensor
        self._known_ops = known_ops  # key -> (object, operation), shared by all restorations of one root
        self._waiting_slots: dict = {}  # number of an optimizer -> [(variable, slot)] of variables that came before
        for number, node in enumerate(proto.nodes):
            for slot in node.slot_variables:
                self.slots.setdefault(slot.original_variable_node_id, []).append((number, slot))

    def position(self, number):
        return Position(self, number)

    def bind(self, number, value):
        """Says that `value` is that object of the checkpoint. False if it has been said before."""
        self.seen[id(value)] = value
        current = self.objects.get(number)
        if current is None:
            self.objects[number] = value
            self._restore_slots(number)
            return True
        if current is not value:
            _log.warning(
                "Inconsistent references when loading the checkpoint into this object graph: one object of the "
                "checkpoint is two in the program, %s and %s. The first is restored.",
                current,
                value,
            )
        return False

    def _restore_slots(self, number):
        """Restores the slots that an optimizer or a variable brings in reach."""
        value = self.objects[number]
        for variable, slot in self._waiting_slots.pop(number, ()):
            self._restore_slot(value, variable, slot)
        for optimizer_number, slot in self.slots.pop(number, ()):
            optimizer = self.objects.get(optimizer_number)
            if optimizer is None:
                self._waiting_slots.setdefault(optimizer_number, []).append((value, slot))
            else:
                self._restore_slot(optimizer, value, slot)

    def _restore_slot(self, optimizer, variable, slot):
        optimizer._create_or_restore_slot_variable(
            slot_variable_position=self.position(slot.slot_variable_node_id),
            slot_name=slot.slot_name,
            variable=variable,
        )

    # ---- Operations -----------------------------------------------------------------------------------------

    def restore_values(self, numbers):
        """Adds the operations that restore the values of these objects."""
        wanted: dict = {}
        added: list = []
        for number in numbers:
            value = self.objects[number]
            if value._tracking.update_uid >= self.uid:
                continue  # a later restoration has given it its value
            value._tracking.update_uid = self.uid
            items = value._gather_saveables_for_checkpoint()
            for attribute in self.proto.nodes[number].attributes:
                if attribute.name not in items:
                    if not attribute.optional_restore:
                        self.unused_attributes.setdefault(number, []).append(attribute.name)
                    continue
                if isinstance(items[attribute.name], PythonValue):
                    text = CheckpointReader(self.path).get_tensor(attribute.checkpoint_key)
                    items[attribute.name].deserialize(text)
                    continue
                known = self._known_ops.get(attribute.checkpoint_key)
                if known is not None and known[0] is value:
                    added.append(known[1])
                else:
                    wanted[attribute.checkpoint_key] = value, items[attribute.name]
        added += self._new_operations(wanted)
        self.restore_ops.extend(added)
        if added and self.run_new_operations is not None:
            self.run_new_operations(added)

    def operations_of(self, number):
        """The operations that restore the values of one object."""
        attributes = self.proto.nodes[number].attributes
        known = [self._known_ops.get(attribute.checkpoint_key) for attribute in attributes]
        return [item[1] for item in known if item is not None and item[0] is self.objects.get(number)]

    def _new_operations(self, wanted):
        items = [
            (key, saveable) for key in sorted(wanted) for saveable in saveables_under(wanted[key][1], key)
        ]  # fmt: skip
        made = sharded.add_restore(self._prefix_tensor, items)
        self._known_ops.update((key, (wanted[key][0], operation)) for key, operation in made)
        return [operation for _, operation in sorted(made, key=lambda item: item[0])]

    def run(self, session, prefix_tensor_feeds):
        """Runs the operations: all variables are restored, or none."""
        if not self.restore_ops:
            return
        if not isinstance(session, BaseSession):  # one that wraps another
            session.run(self.restore_ops, prefix_tensor_feeds)
            return
        assigns = [a for each in self.restore_ops for a in restoring._assigns_before(getattr(each, "op", each))]
        variables = [engine_variable(session._core, assign._inputs[0]._op) for assign in assigns]
        before = _engine.Snapshot(session._core, variables)
        try:
            session.run(self.restore_ops, prefix_tensor_feeds)
            for assign, variable in zip(assigns, variables, strict=True):
                restoring._check_shape(assign, variable)
        except BaseException:
            before.restore()
            raise

    def __del__(self):
        if self.expects_partial or not self.objects:
            return
        names = path_names(self.proto)
        left = [f"Unresolved object in checkpoint: {names.get(number, number)}"
                for number in range(len(self.proto.nodes)) if number not in self.objects]  # fmt: skip
        left += [f"Unused attribute in object {names.get(number, number)}: {attributes}"
                 for number, attributes in self.unused_attributes.items()]  # fmt: skip
        if left:
            _log.warning(
                "%s\nA checkpoint was restored, but not all values in it were used. Call expect_partial() on what "
                "restore returned to silence this, or assert_consumed() to make it an error.",
                "\n".join(left),
            )


class Position:
    """An object of a checkpoint, before it is known which object of the program it is."""

    def __init__(self, restoration, number):
        self._restoration = restoration
        self._number = number

    def value(self):
        """The value of a variable, read now."""
        (attribute,) = self._restoration.proto.nodes[self._number].attributes
        return CheckpointReader(self._restoration.path).get_tensor(attribute.checkpoint_key)

    def restore(self, value):
        """Restores `value`, and what it depends on, as this object; what is not there yet when it comes."""
        restoration = self._restoration
        with init_scope():
            if not restoration.bind(self._number, value):
                return
            found = []
            pending = collections.deque([self._number])
            while pending:
                number = pending.popleft()
                found.append(number)
                owner = restoration.objects[number]
                for child in restoration.proto.nodes[number].children:
                    there = owner._lookup_dependency(child.local_name)
                    if there is None:
                        owner._defer(child.local_name, restoration.position(child.node_id))
                    elif restoration.bind(child.node_id, there):
                        pending.append(child.node_id)
            restoration.restore_values(found)
