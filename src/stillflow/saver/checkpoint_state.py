"""The file "checkpoint" beside checkpoints: which ones there are, and which is the newest; and the files of one."""

from __future__ import annotations

import logging
import os
import re
import time

from stillflow import _engine, errors
from stillflow.files import filesystem
from stillflow.formats import protobuf
from stillflow.names import public

_log = logging.getLogger("tensorflow")
_V2 = 2


@public("python.training.checkpoint_management.meta_graph_filename")
def meta_graph_filename(checkpoint_filename, meta_graph_suffix="meta"):
    """The name of the MetaGraph that belongs to a checkpoint, also to one whose name is a pattern of shards."""
    return re.sub(r"-[\d?]+-of-\d+$", "", checkpoint_filename) + "." + meta_graph_suffix


def _glob(pattern):
    """The files that match, as names with the pattern's folder. Raises NotFoundError if the folder is not there."""
    with filesystem.typed_errors(os.path.dirname(pattern) or pattern):
        system, path = filesystem.system_of(pattern)
        return system.glob(path)


def _state_path(save_dir, latest_filename):
    return os.path.join(save_dir, latest_filename or "checkpoint")


# ---- Writing ------------------------------------------------------------------------------------------------------


@public("train.generate_checkpoint_state_proto")
def generate_checkpoint_state_proto(
    save_dir, model_checkpoint_path, all_model_checkpoint_paths=None, all_model_checkpoint_timestamps=None,
    last_preserved_timestamp=None,
):  # fmt: skip
    """A CheckpointState message.

    Args:
      save_dir: where it will be written; relative paths are made relative to it, if it is relative itself.
      model_checkpoint_path: the newest checkpoint.
      all_model_checkpoint_paths: all that are kept, oldest first; the newest is added if it is not the last.
      all_model_checkpoint_timestamps: when they were written, in seconds since 1970.
      last_preserved_timestamp: when the last one was written that is kept for good.

    Raises ValueError if there are timestamps, but not as many as paths.
    """
    paths = list(all_model_checkpoint_paths or ())
    timestamps = all_model_checkpoint_timestamps
    if not paths or paths[-1] != model_checkpoint_path:
        _log.info("%s is not in all_model_checkpoint_paths. Manually adding it.", model_checkpoint_path)
        paths.append(model_checkpoint_path)
    if timestamps and len(timestamps) != len(paths):
        raise ValueError(
            "Checkpoint timestamps, if provided, must match checkpoint paths (got paths "
            f"{paths} and timestamps {timestamps})"
        )
    if not os.path.isabs(save_dir):
        paths = [path if os.path.isabs(path) else os.path.relpath(path, save_dir) for path in paths]
        if not os.path.isabs(model_checkpoint_path):
            model_checkpoint_path = os.path.relpath(model_checkpoint_path, save_dir)
    return protobuf.message("CheckpointState")(
        model_checkpoint_path=model_checkpoint_path,
        all_model_checkpoint_paths=paths,
        all_model_checkpoint_timestamps=timestamps,
        last_preserved_timestamp=last_preserved_timestamp,
    )


@public("train.update_checkpoint_state")
def update_checkpoint_state(
    save_dir, model_checkpoint_path, all_model_checkpoint_paths=None, latest_filename=None,
    all_model_checkpoint_timestamps=None, last_preserved_timestamp=None,
):  # fmt: skip
    """Writes the file "checkpoint", or `latest_filename`, in `save_dir`; the other arguments are those of
    generate_checkpoint_state_proto.

    Raises:
      ValueError: if there are timestamps, but not as many as paths.
      RuntimeError: if the checkpoint itself has that name.
    """
    write_state(
        save_dir, model_checkpoint_path, all_model_checkpoint_paths, latest_filename, False,
        all_model_checkpoint_timestamps, last_preserved_timestamp,
    )  # fmt: skip


@public("python.training.checkpoint_management.update_checkpoint_state_internal")
def write_state(
    save_dir, model_checkpoint_path, all_model_checkpoint_paths=None, latest_filename=None, save_relative_paths=False,
    all_model_checkpoint_timestamps=None, last_preserved_timestamp=None,
):  # fmt: skip
    """update_checkpoint_state, which can make absolute paths relative to the folder, too."""
    from google.protobuf import text_format

    paths = list(all_model_checkpoint_paths or ())
    if save_relative_paths:
        paths = [os.path.relpath(path, save_dir) if os.path.isabs(path) else path for path in paths]
        if os.path.isabs(model_checkpoint_path):
            model_checkpoint_path = os.path.relpath(model_checkpoint_path, save_dir)
    state = generate_checkpoint_state_proto(
        save_dir, model_checkpoint_path, paths, all_model_checkpoint_timestamps, last_preserved_timestamp
    )
    path = _state_path(save_dir, latest_filename)
    if path == state.model_checkpoint_path:
        raise RuntimeError(
            f"Save path '{model_checkpoint_path}' conflicts with path used for checkpoint state.  Please use a "
            "different save path."
        )
    with filesystem.typed_errors(path):
        filesystem.write_atomically(path, text_format.MessageToString(state, as_utf8=False).encode())


# ---- Reading ------------------------------------------------------------------------------------------------------


@public("train.get_checkpoint_state")
def get_checkpoint_state(checkpoint_dir, latest_filename=None):
    """The CheckpointState message of a folder, with absolute paths or such that begin with the folder's.

    Args:
      checkpoint_dir: the folder.
      latest_filename: the name of the file that lists its checkpoints, "checkpoint" by default.

    Returns:
      The message; None if there is no such file, or none that can be read.

    Raises:
      ValueError: if it names no checkpoint.
    """
    from google.protobuf import text_format

    checkpoint_dir = filesystem.path_text(checkpoint_dir)
    path = _state_path(checkpoint_dir, latest_filename)
    state = protobuf.message("CheckpointState")()
    try:
        with filesystem.typed_errors(path):
            system, own = filesystem.system_of(path)
            if not system.exists(own):
                return None
            with system.open(own, "rb") as file:
                text_format.Merge(file.read().decode(), state)
    except (errors.OpError, text_format.ParseError, UnicodeDecodeError) as error:
        _log.warning("%s: %s", type(error).__name__, error)
        _log.warning("%s: Checkpoint ignored", path)
        return None
    if not state.model_checkpoint_path:
        raise ValueError(f"Invalid checkpoint state loaded from {checkpoint_dir}")
    if not os.path.isabs(state.model_checkpoint_path):
        state.model_checkpoint_path = os.path.join(checkpoint_dir, state.model_checkpoint_path)
    for i, saved in enumerate(state.all_model_checkpoint_paths):
        if not os.path.isabs(saved):
            state.all_model_checkpoint_paths[i] = os.path.join(checkpoint_dir, saved)
    return state


@public("train.latest_checkpoint")
def latest_checkpoint(checkpoint_dir, latest_filename=None):
    """The path of the newest whole checkpoint of a folder.

    Args:
      checkpoint_dir: the folder.
      latest_filename: the name of the file that lists its checkpoints, "checkpoint" by default.

    Returns:
      What Saver.restore takes, or None. A checkpoint with damage, in which a file is missing or too short or a
      checksum wrong, is passed over for the one before it; a warning says so.
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None:
        return None
    newest = state.model_checkpoint_path
    if not _exists(newest):
        _log.error("Couldn't match files for checkpoint %s", newest)
        return None
    for path in dict.fromkeys([newest, *reversed(state.all_model_checkpoint_paths)]):
        if not _exists(path):
            continue
        damage = damage_of(path)
        if damage is None:
            return path
        _log.warning("The checkpoint %s is damaged and is passed over: %s", path, damage)
    _log.error("There is no whole checkpoint in %s", checkpoint_dir)
    return None


def _exists(checkpoint_prefix):
    try:
        return checkpoint_exists(checkpoint_prefix)
    except errors.NotFoundError:
        return False


_known_whole: dict = {}  # path -> what its files were like when it was found to be whole


def damage_of(checkpoint_prefix):
    """What is wrong with a checkpoint, as text; None if all of its checksums are right."""
    try:
        stamp = tuple(
            (path, found.st_size, found.st_mtime_ns, found.st_ino)
            for path in _files_of(checkpoint_prefix)
            for found in (os.stat(path),)
        )
        if _known_whole.get(checkpoint_prefix) == stamp:
            return None
        _engine.CheckpointReader(os.fsencode(checkpoint_prefix)).verify()
    except _engine.EngineError as error:
        return error.message
    except OSError as error:  # somebody has just removed it
        return str(error)
    _known_whole[checkpoint_prefix] = stamp
    return None


def _files_of(prefix):
    return [
        path for pattern in (f"{prefix}.index", f"{prefix}.data-?????-of-?????", prefix) for path in _glob(pattern)
    ]


def data_files(prefix):
    """The files with the values of the checkpoint that is there, if one is."""
    try:
        return _glob(f"{prefix}.data-?????-of-?????")
    except errors.OpError:
        return []


@public("train.checkpoint_exists")
def checkpoint_exists(checkpoint_prefix):
    """Whether there is a checkpoint of that path, which may be a pattern.

    Raises NotFoundError if the folder is not there.
    """
    return bool(_paths_of(checkpoint_prefix))


def _paths_of(prefix):
    """The file, or files, by which a checkpoint is known to be there."""
    return _glob(f"{prefix}.index") or _glob(prefix)


@public("train.get_checkpoint_mtimes")
def get_checkpoint_mtimes(checkpoint_prefixes):
    """When checkpoints were written, in seconds since 1970; those that are not there are left out."""
    return [time for _, time in existing_with_mtimes(checkpoint_prefixes)]


def existing_with_mtimes(checkpoint_prefixes):
    """[(path, seconds since 1970)] of the checkpoints that are there."""
    found = []
    for prefix in checkpoint_prefixes:
        try:
            paths = _paths_of(prefix)
        except errors.NotFoundError:
            continue
        if paths:
            with filesystem.typed_errors(paths[0]):
                system, path = filesystem.system_of(paths[0])
                found.append((prefix, system.stat(path).mtime_nsec / 1e9))
    return found


@public("train.remove_checkpoint")
def remove_checkpoint(checkpoint_prefix, checkpoint_format_version=_V2, meta_graph_suffix="meta"):
    """Removes the files of a checkpoint, and its MetaGraph. What is not there need not be removed."""
    patterns = [meta_graph_filename(checkpoint_prefix, meta_graph_suffix)]
    if checkpoint_format_version == _V2:
        # The index goes first: without it the rest is no checkpoint.
        patterns += [f"{checkpoint_prefix}.index", f"{checkpoint_prefix}.data-?????-of-?????"]
    else:
        patterns.append(checkpoint_prefix)
    for pattern in patterns:
        try:
            paths = _glob(pattern)
        except errors.NotFoundError:
            continue
        for path in paths:
            with filesystem.typed_errors(path):
                system, own = filesystem.system_of(path)
                system.remove(own)


# ---- Waiting for checkpoints --------------------------------------------------------------------------------------


@public("contrib.training.wait_for_new_checkpoint", "python.training.checkpoint_utils.wait_for_new_checkpoint")
def wait_for_new_checkpoint(checkpoint_dir, last_checkpoint=None, seconds_to_sleep=1, timeout=None):
    """The newest checkpoint of a folder, as soon as it is another one than `last_checkpoint`.

    Args:
      checkpoint_dir: the folder.
      last_checkpoint: the one that is known, or None.
      seconds_to_sleep: the time between two looks, in seconds.
      timeout: how long to wait, in seconds; None for as long as it takes.

    Returns:
      The checkpoint, or None if the time is over.
    """
    _log.info("Waiting for new checkpoint at %s", checkpoint_dir)
    stop_time = None if timeout is None else time.monotonic() + timeout
    while True:
        found = latest_checkpoint(checkpoint_dir)
        if found is not None and found != last_checkpoint:
            _log.info("Found new checkpoint at %s", found)
            return found
        if stop_time is not None and time.monotonic() + seconds_to_sleep > stop_time:
            return None
        time.sleep(seconds_to_sleep)


@public("train.checkpoints_iterator", "contrib.training.checkpoints_iterator")
def checkpoints_iterator(checkpoint_dir, min_interval_secs=0, timeout=None, timeout_fn=None):
    """Yields the newest checkpoint of a folder, each time that there is another one.

    Args:
      checkpoint_dir: the folder.
      min_interval_secs: the least time between two, in seconds.
      timeout: how long to wait for the next one, in seconds; None for as long as it takes.
      timeout_fn: called when that time is over; the iterator ends if it returns something true, or is not given.
    """
    last = None
    while True:
        found = wait_for_new_checkpoint(checkpoint_dir, last, timeout=timeout)
        if found is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        last = found
        start = time.monotonic()
        yield found
        rest = min_interval_secs - (time.monotonic() - start)
        if rest > 0:
            time.sleep(rest)
