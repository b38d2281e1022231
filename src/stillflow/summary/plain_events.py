"""tensorflow.python.pywrap_tensorflow.EventsWriter: events written one after the other, without a thread."""

from __future__ import annotations

import os
import socket
import time
from typing import Any

from stillflow.files.filesystem import system_of, typed_errors
from stillflow.formats import protobuf, records
from stillflow.names import public


@public("python.pywrap_tensorflow.EventsWriter")
class EventsWriter:
    """Writes Event messages to a file that is made for the first of them.

    Args:
      prefix: the beginning of the file's name, str or bytes; the time and the host's name follow.
    """

    def __init__(self, prefix):
        self._prefix = os.fsdecode(prefix)
        self._suffix = ""
        self._name = ""
        self._file: Any = None

    def InitWithSuffix(self, suffix):  # noqa: N802
        """Makes a file whose name ends with `suffix`."""
        self._suffix = os.fsdecode(suffix)
        self.Close()
        return self._open()

    def FileName(self):  # noqa: N802
        """The name of the file, as bytes."""
        if self._file is None:
            self._open()
        return os.fsencode(self._name)

    def _open(self):
        self._name = f"{self._prefix}.out.tfevents.{int(time.time()):010}.{socket.gethostname()}{self._suffix}"
        with typed_errors(self._name):
            system, path = system_of(self._name)
            self._file = system.open(path, "wb")
        self._write(protobuf.message("Event")(wall_time=time.time(), file_version="brain.Event:2"))

    def _write(self, event):
        self._file.write(records.framed(event.SerializeToString()))

    def WriteEvent(self, event):  # noqa: N802
        """Writes an Event message."""
        if self._file is None:
            self._open()
        self._write(event)

    def Flush(self):  # noqa: N802
        """Hands over to the system what was written."""
        if self._file is not None:
            self._file.flush()

    def Close(self):  # noqa: N802
        """Flushes and closes the file; the next event begins a new one."""
        if self._file is not None:
            self._file.close()
            self._file = None
