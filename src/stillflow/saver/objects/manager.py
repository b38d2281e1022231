"""tf.train.CheckpointManager: numbers checkpoints of objects and deletes old ones."""

from __future__ import annotations

import logging
import operator
import os
import time

from stillflow import errors
from stillflow.files import filesystem
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.names import public
from stillflow.saver import checkpoint_state
from stillflow.saver.objects.status import session_or_default

_log = logging.getLogger("tensorflow")


@public("train.CheckpointManager", "contrib.checkpoint.CheckpointManager")
class CheckpointManager:
    """Keeps the newest checkpoints of a tf.train.Checkpoint in a folder, and goes on there after a restart."""

    def __init__(
        self, checkpoint, directory, max_to_keep, keep_checkpoint_every_n_hours=None, checkpoint_name="ckpt"
    ):  # fmt: skip
        """Looks what checkpoints the folder has.

        Args:
          checkpoint: the tf.train.Checkpoint.
          directory: the folder.
          max_to_keep: how many checkpoints to keep, or None for all.
          keep_checkpoint_every_n_hours: one checkpoint in so many hours is not deleted.
          checkpoint_name: how the names of the files begin.

        Raises ValueError if `max_to_keep` is not positive.
        """
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(f"Expected a positive integer or `None` for `max_to_max_to_keep`, got {max_to_keep}.")
        self._checkpoint = checkpoint
        self._directory = filesystem.path_text(directory)
        self._max_to_keep = max_to_keep
        self._keep_every_seconds = (keep_checkpoint_every_n_hours or 0) * 3600.0
        self._checkpoint_prefix = os.path.join(self._directory, checkpoint_name)
        self._save_counter_assign = None
        self._latest_checkpoint = None
        self._kept: dict = {}  # path -> when it was written, the oldest first
        self._last_preserved = time.time() - 1.0  # so that what follows at once counts as later
        self._recover()

    def _recover(self):
        """Takes over what the file "checkpoint" says."""
        state = checkpoint_state.get_checkpoint_state(self._directory)
        if state is None:
            return
        now = time.time()
        self._latest_checkpoint = state.model_checkpoint_path
        self._last_preserved = state.last_preserved_timestamp
        if now < self._last_preserved:
            _log.warning("The clock is %f seconds behind the last preserved checkpoint.", self._last_preserved - now)
            self._last_preserved = now
        paths = state.all_model_checkpoint_paths
        times = state.all_model_checkpoint_timestamps or [self._last_preserved] * len(paths)
        for path, written in zip(paths, times, strict=False):
            written = min(written, now)
            if written > self._last_preserved:
                self._kept[path] = written

    @property
    def latest_checkpoint(self):
        """The path of the newest checkpoint, or None."""
        return self._latest_checkpoint

    @property
    def checkpoints(self):
        """The paths of the checkpoints that may be deleted later, oldest first."""
        return list(self._kept)

    def save(self, checkpoint_number=None):
        """Writes a checkpoint of the values in the default session, and deletes the ones that are too many.

        Args:
          checkpoint_number: its number, or a tensor or variable with it; by default how often has been saved.

        Returns:
          Its path.

        Raises:
          tf.errors.OpError: if a variable has no value, or a file cannot be written.
        """
        number = self._count(checkpoint_number)
        path = self._checkpoint.write(f"{self._checkpoint_prefix}-{number}")
        self._kept.pop(path, None)
        self._kept[path] = time.time()
        self._latest_checkpoint = path
        # Once before anything is deleted, so that at any instant the file names checkpoints that are there.
        self._write_state()
        if self._sweep():
            self._write_state()
        return path

    @by_mode
    def _count(self, checkpoint_number):
        """Counts one checkpoint more. Returns its number: that count, or `checkpoint_number`."""
        session = session_or_default(None)
        is_new = self._checkpoint._save_counter is None
        counter = self._checkpoint.save_counter
        if is_new:
            session.run(counter.initializer)
        if self._save_counter_assign is None:
            self._save_counter_assign = counter.assign_add(1, read_value=False)
        session.run(self._save_counter_assign)
        return _number(session, counter if checkpoint_number is None else checkpoint_number)

    def _sweep(self):
        """Deletes the oldest checkpoints that are too many; those that are kept for good are only forgotten."""
        is_changed = False
        while self._max_to_keep and len(self._kept) > self._max_to_keep:
            is_changed = True
            path = next(iter(self._kept))
            written = self._kept.pop(path)
            if self._keep_every_seconds and written - self._keep_every_seconds >= self._last_preserved:
                self._last_preserved = written
                continue
            try:
                checkpoint_state.remove_checkpoint(path)
            except errors.OpError as error:
                _log.warning("Ignoring: %s", error)
        return is_changed

    def _write_state(self):
        checkpoint_state.write_state(
            self._directory,
            self._latest_checkpoint,
            list(self._kept),
            save_relative_paths=True,
            all_model_checkpoint_timestamps=list(self._kept.values()),
            last_preserved_timestamp=self._last_preserved,
        )


def _number(session, value):
    try:
        return operator.index(value)
    except TypeError:
        return int(session.run(value))


@eager_version_of(CheckpointManager._count)
def count(manager, checkpoint_number):
    counter = manager._checkpoint.save_counter.assign_add(1)
    return int(counter.numpy() if checkpoint_number is None else checkpoint_number)
