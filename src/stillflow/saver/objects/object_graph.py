"""The objects that a root depends on, and what a checkpoint says of them."""

from __future__ import annotations

import collections

from stillflow import _engine, errors
from stillflow.formats import protobuf
from stillflow.saver import saveable as saveables
from stillflow.saver.objects.python_state import FedText, PythonValue, frozen_text
from stillflow.tracking.base import NotTrackable

OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"


def escaped(name):
    """A name as a part of a key, in which slashes part the names and dots begin what is no name."""
    return name.replace(".", "..").replace("/", ".S")


def dependencies_of(value):
    """[(name, object)] of what an object depends on in a checkpoint."""
    return value._checkpoint_dependencies


class ObjectGraph:
    """The objects that a root depends on now: in breadth-first order, and after them the slots of optimizers.

    Args:
      root: the object.
      list_dependencies: a function of an object that returns [(name, object)] of what it depends on.

    Raises NotImplementedError for an object that says that it cannot be saved.
    """

    def __init__(self, root, list_dependencies=dependencies_of):
        self._list_dependencies = list_dependencies
        self.objects: list = []
        self.ids: dict = {}  # id(object) -> its number
        self._paths: list = []  # parts of keys
        self._children: list = []  # [(name, object)] of each object
        self._slots: dict = {}  # number of an optimizer -> (number of the variable, name of the slot, its number)
        self._visit(root)
        self._add_slots()

    def _add(self, value, path):
        self.ids[id(value)] = len(self.objects)
        self.objects.append(value)
        self._paths.append(path)

    def _visit(self, root):
        self._add(root, "")
        pending = collections.deque([root])
        while pending:
            owner = pending.popleft()
            if isinstance(owner, NotTrackable):
                raise NotImplementedError(
                    f"The object {owner} does not support object-based saving. File a feature request if this "
                    "limitation bothers you. In the meantime, you can remove the dependency on this object and save "
                    "everything else."
                )
            path = self._paths[self.ids[id(owner)]]
            children = list(self._list_dependencies(owner))
            self._children.append(children)
            for name, child in children:
                if id(child) not in self.ids:
                    self._add(child, f"{path}/{escaped(name)}" if path else escaped(name))
                    pending.append(child)

    def _add_slots(self):
        plain = list(self.objects)
        for number, optimizer in enumerate(plain):
            if not hasattr(optimizer, "_create_or_restore_slot_variable"):
                continue
            for slot_name in optimizer.get_slot_names():
                for of, variable in enumerate(plain):
                    slot = _slot_of(optimizer, variable, slot_name)
                    if slot is None:
                        continue
                    if id(slot) in self.ids:
                        raise NotImplementedError(
                            f"The slot variable {slot} is also a dependency of an object, or a slot of two names. "
                            "Such variables cannot be saved."
                        )
                    self._slots.setdefault(number, []).append((of, slot_name, len(self.objects)))
                    place = f"{self._paths[of]}/.OPTIMIZER_SLOT/{self._paths[number]}"
                    self._add(slot, f"{place}/{escaped(slot_name)}")
                    self._children.append([])

    def fill_node(self, number, node):
        """Says in a message what an object depends on, and which slots it has for others."""
        for name, child in self._children[number]:
            node.children.add(node_id=self.ids[id(child)], local_name=name)
        for of, slot_name, slot in self._slots.get(number, ()):
            node.slot_variables.add(original_variable_node_id=of, slot_name=slot_name, slot_variable_node_id=slot)

    def serialized(self, stands_for=None, fed_texts=None):
        """The SaveableObjects of all values, and the TrackableObjectGraph message.

        `stands_for` is {id(object): another one, whose values are saved in its place}, `fed_texts` a dictionary for
        FedTexts: without it, values in Python are saved as they are now.
        """
        proto = protobuf.message("TrackableObjectGraph")()
        found = []
        for number, value in enumerate(self.objects):
            node = proto.nodes.add()
            self.fill_node(number, node)
            value = (stands_for or {}).get(id(value), value)
            for name, item in value._gather_saveables_for_checkpoint().items():
                key = f"{self._paths[number]}/.ATTRIBUTES/{escaped(name)}"
                attribute = node.attributes.add(name=name, checkpoint_key=key)
                if fed_texts is not None and isinstance(item, PythonValue):
                    item = FedText(item, key, fed_texts)
                parts, attribute.full_name = _saveables(item, key)
                attribute.optional_restore = bool(parts) and all(part.optional_restore for part in parts)
                found.extend(parts)
        return found, proto


def frozen_saveables(root):
    """SaveableObjects of what a root depends on now, for a Saver that writes what tf.train.Checkpoint does."""
    return saveables_with_graph(ObjectGraph(root))


def saveables_with_graph(objects, stands_for=None):
    """The SaveableObjects of an ObjectGraph, and of the message that describes it; see ObjectGraph.serialized."""
    values, proto = objects.serialized(stands_for)
    return [*values, frozen_text(protobuf.to_bytes(proto), OBJECT_GRAPH_KEY)]


def _slot_of(optimizer, variable, slot_name):
    try:
        return optimizer.get_slot(variable, slot_name)
    except (AttributeError, KeyError):
        return None  # no variable


def saveables_under(item, key):
    """The SaveableObjects of one value of an object, under the key that it has in the checkpoint."""
    return _saveables(item, key)[0]


def _saveables(item, key):
    if callable(item) and not isinstance(item, saveables.SaveableObject):
        item = item(name=key)
    if isinstance(item, saveables.SaveableObject):
        return [item], ""
    (full_name,) = saveables.by_name([item])
    return saveables.saveables_of(item, key), full_name


def path_names(proto):
    """{number of an object in a checkpoint: how to call it in messages}."""
    paths: dict = {0: ("(root)",)}
    pending = collections.deque([0])
    while pending:
        number = pending.popleft()
        for child in proto.nodes[number].children:
            if child.node_id not in paths:
                paths[child.node_id] = (*paths[number], child.local_name)
                pending.append(child.node_id)
    names = {number: ".".join(path) for number, path in paths.items()}
    for number, node in enumerate(proto.nodes):
        for slot in node.slot_variables:
            optimizer, variable = (names.get(each, each) for each in (number, slot.original_variable_node_id))
            names[slot.slot_variable_node_id] = f"{optimizer}'s state '{slot.slot_name}' for {variable}"
    return names


def read_object_graph(reader, save_path):
    """The TrackableObjectGraph message of a checkpoint. Raises tf.errors.DataLossError if it is damaged."""
    from google.protobuf.message import DecodeError

    try:
        proto = protobuf.message("TrackableObjectGraph").FromString(reader.read(OBJECT_GRAPH_KEY.encode()))
    except _engine.EngineError as error:
        raise errors.make(error.code, error.message, None) from None
    except (DecodeError, TypeError) as error:
        raise errors.make(errors.DATA_LOSS, f"The object graph of {save_path} cannot be read: {error}") from None
    count = len(proto.nodes)
    for node in proto.nodes:
        references = [child.node_id for child in node.children]
        for slot in node.slot_variables:
            references += [slot.original_variable_node_id, slot.slot_variable_node_id]
        if not all(0 <= number < count for number in references):
            raise errors.make(errors.DATA_LOSS, f"The object graph of {save_path} speaks of objects it does not have")
    if not count:
        raise errors.make(errors.DATA_LOSS, f"The object graph of {save_path} is empty")
    return proto
