"""DumpingDebugWrapperSession: writes what every run of a session computes."""

from __future__ import annotations

import itertools
import os
import time

from stillflow.debug.dumps.dump_dir import FEED_KEYS_INFO_FILE_TAG, FETCHES_INFO_FILE_TAG, METADATA_FILE_PREFIX
from stillflow.debug.wrappers.wrapper_session import NonInteractiveDebugWrapperSession
from stillflow.files import gfile
from stillflow.formats import protobuf
from stillflow.names import public


@public("python.debug.DumpingDebugWrapperSession", "python.debug.wrappers.dumping_wrapper.DumpingDebugWrapperSession")
class DumpingDebugWrapperSession(NonInteractiveDebugWrapperSession):
    """Writes the watched tensors of every run to a folder of its own, for tf_debug.DebugDumpDir to read.

    Args:
      sess: a tf.Session or tf.train.MonitoredSession.
      session_root: a folder that is empty or not there; that of a run is run_TIME_NUMBER below it.
      watch_fn, thread_name_filter, pass_through_operrors: as for the classes that it descends from.
      log_usage: not used.

    Raises ValueError if `session_root` is a file, or has files in it.
    """

    def __init__(
        self, sess, session_root, watch_fn=None, thread_name_filter=None, pass_through_operrors=None, log_usage=True
    ):
        super().__init__(sess, watch_fn, thread_name_filter, pass_through_operrors)
        session_root = os.path.expanduser(session_root)
        if not gfile.Exists(session_root):
            gfile.MakeDirs(session_root)
        elif not gfile.IsDirectory(session_root):
            raise ValueError(f"session_root path points to a file: {session_root}")
        elif gfile.ListDirectory(session_root):
            raise ValueError(f"session_root path points to a non-empty directory: {session_root}")
        self._session_root = session_root
        self._numbers = itertools.count()

    def prepare_run_debug_urls(self, fetches, feed_dict):
        """Makes the folder of a run, with what is fetched and fed as text. Returns a list of its URL."""
        folder = os.path.join(self._session_root, f"run_{time.time_ns() // 1000}_{next(self._numbers)}")
        gfile.MkDir(folder)
        _write_text(os.path.join(folder, METADATA_FILE_PREFIX + FETCHES_INFO_FILE_TAG), repr(fetches))
        keys = feed_dict.keys() if feed_dict else feed_dict
        _write_text(os.path.join(folder, METADATA_FILE_PREFIX + FEED_KEYS_INFO_FILE_TAG), repr(keys))
        return [f"file://{folder}"]


def _write_text(path, text):
    event = protobuf.message("Event")()
    event.log_message.message = text
    with gfile.GFile(path, "wb") as file:
        file.write(event.SerializeToString())
