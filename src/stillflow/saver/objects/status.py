"""What tf.train.Checkpoint.restore returns: says what has been found, and runs what restores it."""

from __future__ import annotations

from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.saver import at_once, weight_values
from stillflow.saver.builder import BulkSaverBuilder
from stillflow.saver.objects.object_graph import ObjectGraph, path_names
from stillflow.saver.objects.python_state import PythonValue
from stillflow.saver.objects.restoration import next_uid
from stillflow.saver.saveable import by_name
from stillflow.saver.saver import Saver
from stillflow.tracking.structures import DictWrapper, ListWrapper


def session_or_default(session):
    """The session, or else the default one, or that in which the models of the default graph run."""
    return session or weight_values.get_session()


def _run_initializers(session, objects, uid):
    """Initializes variables and whatever else has an initializer, if no restoration since `uid` has given it a
    value."""
    initializers = [
        value.initializer
        for value in objects
        if getattr(value, "initializer", None) is not None and value._tracking.update_uid < uid
    ]
    session.run(initializers)


class CheckpointLoadStatus:
    """The state of a restoration from a checkpoint of objects."""

    def __init__(self, restoration, root, feeds):
        self._restoration = restoration
        self._root = root
        self._feeds = feeds

    def assert_consumed(self):
        """Raises AssertionError if something in the checkpoint or in the program has no counterpart; returns self."""
        restoration = self._restoration
        self.assert_existing_objects_matched()
        names = path_names(restoration.proto)
        for number, node in enumerate(restoration.proto.nodes):
            if number not in restoration.objects:
                raise AssertionError(f"Unresolved object in checkpoint {names.get(number, number)}: {node}")
        if restoration.slots:
            raise AssertionError(f"Unresolved slot restorations: {restoration.slots}")
        if restoration.unused_attributes:
            unused = "\n".join(
                f"{names.get(number, number)} ({restoration.objects[number]}): {attributes}"
                for number, attributes in restoration.unused_attributes.items()
            )
            raise AssertionError(
                "Unused attributes in these objects (the attributes exist in the checkpoint but were not "
                f"restored):\n{unused}"
            )
        return self

    def assert_existing_objects_matched(self):
        """Raises AssertionError if an object of the program is not in the checkpoint; returns self."""
        restoration = self._restoration
        for number, value in restoration.objects.items():
            if value._tracking.update_uid < restoration.uid:
                raise AssertionError(
                    f"Object not assigned a value from checkpoint: {restoration.proto.nodes[number]}"
                )
        unused = self._unmatched(
            value
            for value in ObjectGraph(self._root).objects
            if not isinstance(value, (ListWrapper, DictWrapper)) or value._checkpoint_dependencies
        )
        if unused:
            raise AssertionError(
                "Some Python objects were not bound to checkpointed values, likely due to changes in the Python "
                f"program: {unused}"
            )
        return self

    def assert_nontrivial_match(self):
        """Raises AssertionError if nothing but the root is in the checkpoint; returns self."""
        if len(self._restoration.objects) <= 1:
            unused = self._unmatched(ObjectGraph(self._root).objects)
            if unused:
                raise AssertionError(
                    "Nothing except the root object matched a checkpointed value: the checkpoint is not one of this "
                    f"program. These objects have no value in it: {unused}"
                )
            raise AssertionError(f"Nothing to load. No dependencies have been added to {self._root} yet.")
        return self

    def _unmatched(self, objects):
        """The objects of the program that are none of the checkpoint."""
        found = self._restoration.seen | {id(value): value for value in objects}
        matched = {id(value) for value in self._restoration.objects.values()}
        return [value for key, value in found.items() if key not in matched]

    def expect_partial(self):
        """Silences the warning about values in the checkpoint that are not used; returns self."""
        self._restoration.expects_partial = True
        return self

    def restore_operations(self):
        """[(object, the operations that restore it)] of what has been found; empty lists where that has been done."""
        restoration = self._restoration
        return [(value, restoration.operations_of(number)) for number, value in restoration.objects.items()]

    @by_mode
    def run_restore_ops(self, session=None):
        """Gives the objects their values in `session` or the default session.

        Raises:
          tf.errors.OpError: if the checkpoint is damaged, or a type or shape is another one; all variables then have
            the values that they had.
        """
        self._restoration.run(session_or_default(session), self._feeds)

    def run_restore_ops_from_now_on(self, session):
        """`run_restore_ops`; what comes later is restored in the same session when it comes."""
        self.run_restore_ops(session)
        self._restoration.run_new_operations = lambda operations: session.run(operations, self._feeds)

    @by_mode
    def initialize_or_restore(self, session=None):
        """`run_restore_ops`; then initializes what is not in the checkpoint."""
        session = session_or_default(session)
        self.run_restore_ops(session)
        matched = {id(value) for value in self._restoration.objects.values()}
        others = [value for value in ObjectGraph(self._root).objects if id(value) not in matched]
        _run_initializers(session, others, self._restoration.uid)


class InitializationOnlyStatus:
    """What restoring from no checkpoint gives: it can initialize, and asserts nothing."""

    def __init__(self, root):
        self._root = root
        self._uid = next_uid()

    def assert_consumed(self):
        """Raises AssertionError: there is no checkpoint."""
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def run_restore_ops(self, session=None):
        """Raises AssertionError: there is no checkpoint."""
        raise AssertionError(
            "No checkpoint specified, so no restore ops are available (save_path=None to Saver.restore)."
        )

    @by_mode
    def initialize_or_restore(self, session=None):
        """Initializes all objects in `session` or the default session."""
        _run_initializers(session_or_default(session), ObjectGraph(self._root).objects, self._uid)


class NameBasedSaverStatus:
    """The state of a restoration from a checkpoint of tf.train.Saver, in which variables have their own names."""

    def __init__(self, root, save_path, keys):
        self._root = root
        self._save_path = save_path
        self._keys = keys
        self._uid = next_uid()
        self._saver = None

    def assert_consumed(self):
        """Raises AssertionError until all objects have been restored; returns self."""
        for value in ObjectGraph(self._root).objects:
            if value._tracking.update_uid < self._uid:
                raise AssertionError(f"Object not restored: {value}")
        return self

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def expect_partial(self):
        """Returns self: what a checkpoint of names has besides is never looked at."""
        return self

    @by_mode
    def begin(self):
        """Restores what there is already, where that does not wait for `run_restore_ops`."""

    @by_mode
    def run_restore_ops(self, session=None):
        """Gives the variables among the objects the values of their names.

        Raises:
          tf.errors.OpError: as tf.train.Saver.restore; all variables then have the values that they had.
        """
        session = session_or_default(session)
        objects = ObjectGraph(self._root).objects
        counter = self._root._save_counter
        has_counter = counter is None or counter.op.name in self._keys
        if self._saver is None:
            items = [
                item() if callable(item) and not hasattr(item, "op") else item
                for value in objects
                if has_counter or value is not counter
                for item in value._gather_saveables_for_checkpoint().values()
                if not isinstance(item, PythonValue)
            ]
            with session.graph.as_default(), session.graph.device("/cpu:0"):
                self._saver = Saver(items, allow_empty=True, save_random_state=False)
        self._saver.restore(session, self._save_path)
        if not has_counter:
            session.run(counter.initializer)  # a Saver knows of no such counter
        for value in objects:
            value._tracking.update_uid = max(value._tracking.update_uid, self._uid)

    def initialize_or_restore(self, session=None):
        """`run_restore_ops`."""
        self.run_restore_ops(session)


# ---- In eager execution -----------------------------------------------------------------------------------------


@eager_version_of(CheckpointLoadStatus.run_restore_ops)
@eager_version_of(CheckpointLoadStatus.initialize_or_restore)
@eager_version_of(InitializationOnlyStatus.initialize_or_restore)
def nothing_remains(status, session=None):
    """Objects have had their values since they were found in the checkpoint, or made."""


@eager_version_of(NameBasedSaverStatus.begin)
@eager_version_of(NameBasedSaverStatus.run_restore_ops)
def restore_by_names(status, session=None):
    """Restores the variables that there are, and that the checkpoint has."""
    found = {}
    for value in ObjectGraph(status._root).objects:
        items = value._gather_saveables_for_checkpoint().values()
        named = by_name([item for item in items if not isinstance(item, PythonValue)])
        if named.keys() <= status._keys:
            found.update(named)
            value._tracking.update_uid = max(value._tracking.update_uid, status._uid)
    at_once.read(BulkSaverBuilder(), found, status._save_path)
