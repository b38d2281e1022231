"""Event files: records of Event messages, written by a thread in the background, and read again."""

from __future__ import annotations

import atexit
import functools
import os
import socket
import struct
import threading
import time
import weakref
from typing import Any

from stillflow import errors
from stillflow.files.filesystem import path_text, system_of, typed_errors
from stillflow.files.records import tf_record_iterator
from stillflow.formats import records
from stillflow.names import public

_FILE_VERSION = b"brain.Event:2"
_MOST_BYTES_WAITING = 1 << 24


# ---- Events as bytes ----------------------------------------------------------------------------------------------

_WALL_TIME = struct.Struct("<Bd")  # field 1, a double
# Fields of Event.
FILE_VERSION, GRAPH_DEF, SUMMARY, SESSION_LOG, TAGGED_RUN_METADATA, META_GRAPH_DEF = 3, 4, 5, 7, 8, 9


def event_bytes(field: int, content: bytes, step=None) -> bytes:
    """A serialized Event of this moment, with serialized `content`; `step` is a number or None.

    Raises ValueError for a step beyond 64 bits.
    """
    if step is not None and not -(2**63) <= step < 2**63:
        raise ValueError(f"Value out of range: {step}")
    parts = [_WALL_TIME.pack(0x09, time.time())]
    if step:
        parts += b"\x10", _varint(step & (2**64 - 1))
    parts += bytes((field << 3 | 2,)), _varint(len(content)), content
    return b"".join(parts)


def _varint(value):
    if value < 0x80:
        return bytes((value,))
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


@public("train.summary_iterator")
def summary_iterator(path):
    """Yields the Event messages of an event file.

    Raises:
      tf.errors.NotFoundError: if there is no such file.
      tf.errors.DataLossError: at a record that is damaged or cut off.
      google.protobuf.message.DecodeError: at a record that is no Event.
    """
    from stillflow.formats import protobuf

    event = protobuf.message("Event")
    for record in tf_record_iterator(path):
        yield event.FromString(record)


# ---- The file -----------------------------------------------------------------------------------------------------


class _EventFile:
    """One event file, opened with its first event."""

    def __init__(self, logdir, suffix):
        self._logdir = logdir
        self._suffix = suffix
        self._file: Any = None
        self.path = ""

    def open(self):
        """Opens a file that was not there: where one was made in this second, it gets the next second's name."""
        files, logdir = system_of(self._logdir)
        second = int(time.time())
        while True:
            name = f"events.out.tfevents.{second:010d}.{socket.gethostname()}{self._suffix}"
            self.path = f"{logdir.rstrip('/')}/{name}" if logdir else name
            with typed_errors(self.path):
                if not files.exists(self.path):
                    self._file = files.open(self.path, "wb")
                    break
            second += 1
        self.write([event_bytes(FILE_VERSION, _FILE_VERSION)])

    def write(self, events):
        if self._file is None:
            self.open()
        with typed_errors(self.path):
            self._file.write(b"".join(map(records.framed, events)))

    def flush(self):
        if self._file is not None:
            with typed_errors(self.path):
                self._file.flush()

    def close(self):
        if self._file is not None:
            file, self._file = self._file, None
            with typed_errors(self.path):
                file.close()


# ---- The writer ---------------------------------------------------------------------------------------------------

_open_writers: weakref.WeakSet = weakref.WeakSet()


@atexit.register
def _flush_all():
    for writer in list(_open_writers):
        try:
            writer.close()
        except Exception as error:
            from absl import logging

            logging.error("Events were lost: %s", error)


class SharedEventFileWriter:
    """A share in the EventFileWriter of a session and a folder, which is closed with the last share.

    Args: as for EventFileWriter, with the session first; `max_queue` and the others count for the first share.
    """

    def __init__(self, session, logdir, max_queue=10, flush_secs=120, filename_suffix=None):
        self._key = path_text(logdir), filename_suffix
        self._writers = _writers_of_sessions.setdefault(session, {})
        self._make = functools.partial(EventFileWriter, logdir, max_queue, flush_secs, filename_suffix)
        self._logdir = path_text(logdir)
        self._is_closed = True
        self.reopen()

    def get_logdir(self):
        """The directory."""
        return self._logdir

    @property
    def is_closed(self):
        return self._is_closed

    def reopen(self):
        """Makes the writer usable again after close."""
        if not self._is_closed:
            return
        if self._key not in self._writers:
            self._writers[self._key] = [self._make(), 0]
        self._writers[self._key][1] += 1
        self._writer = self._writers[self._key][0]
        self._is_closed = False

    def add_event(self, event):
        """Adds an Event message."""
        if not self._is_closed:
            self._writer.add_event(event)

    def add(self, event: bytes):
        """Adds a serialized Event. Dropped once the writer is closed."""
        if not self._is_closed:
            self._writer.add(event)

    def flush(self):
        """Returns when all that was added is in the file."""
        self._writer.flush()

    def close(self):
        """Writes what is waiting; closes the file if there is no other share in it."""
        if self._is_closed:
            return
        self._is_closed = True
        entry = self._writers[self._key]
        entry[1] -= 1
        if entry[1]:
            self._writer.flush()
        else:
            del self._writers[self._key]
            self._writer.close()


_writers_of_sessions: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


@public("python.summary.writer.event_file_writer.EventFileWriter", "python.summary.writer.writer.EventFileWriter")
class EventFileWriter:
    """Writes events to a file in a directory. Adding one puts it into a queue; a thread writes them.

    Args:
      logdir: the directory, made if it is not there.
      max_queue: how many events may wait to be written before adding one waits too; 0 for any number.
      flush_secs: how long an event may stay out of the file.
      filename_suffix: what to put behind the file's name.

    What fails in the thread is raised by every later call, until `reopen`.

    Raises:
      tf.errors.FailedPreconditionError: if `logdir` is a file.
    """

    def __init__(self, logdir, max_queue=10, flush_secs=120, filename_suffix=None):
        self._logdir = path_text(logdir)
        with typed_errors(self._logdir):
            files, path = system_of(self._logdir)
            if files.exists(path) and not files.is_dir(path):
                raise errors.make(errors.FAILED_PRECONDITION, f"{self._logdir} is not a directory")
            if path:  # "" is the working directory
                files.make_dirs(path)
        self._max_queue = max_queue if max_queue > 0 else 1 << 62
        self._flush_secs = flush_secs
        self._suffix = filename_suffix or ""
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)  # for the thread: there is something to do
        self._done = threading.Condition(self._lock)  # for the callers: some of it is done
        self._start()
        if filename_suffix:
            self._file.open()
            self._file.flush()

    def _start(self):
        self._file = _EventFile(self._logdir, self._suffix)
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._added = 0  # events since the start
        self._flushed = 0  # those of them that are in the file
        self._flush_to = 0  # those that somebody waits for
        self._next_flush = 0.0  # the first event does not wait
        self._error: BaseException | None = None
        self._is_closed = False
        self._thread: threading.Thread | None = None
        self._pid = os.getpid()
        _open_writers.add(self)

    def get_logdir(self):
        """The directory."""
        return self._logdir

    @property
    def is_closed(self):
        return self._is_closed

    def reopen(self):
        """Makes the writer usable again after close, with a new file; does nothing before."""
        if self._is_closed:
            self._start()

    # ---- What callers do ------------------------------------------------------------------------------------------

    def add_event(self, event):
        """Adds an Event message."""
        from stillflow.formats import protobuf

        self.add(protobuf.to_bytes(event))

    def add(self, event: bytes):
        """Adds a serialized Event. Dropped once the writer is closed."""
        self._check()
        with self._lock:
            while self._is_full() and not self._is_closed:
                self._wake.notify()
                self._done.wait()
                self._check()
            if self._is_closed:
                return
            is_first = self._flushed == self._added
            self._waiting.append(event)
            self._waiting_bytes += len(event)
            self._added += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="event writer", daemon=True)
                self._thread.start()
            elif is_first or self._is_half_full():
                self._wake.notify()

    def flush(self):
        """Returns when all that was added is in the file."""
        self._check()
        with self._lock:
            self._flush()

    def close(self):
        """Writes what is waiting and closes the file."""
        if self._is_closed or self._pid != os.getpid():
            self._is_closed = True
            return
        try:
            with self._lock:
                try:
                    self._check()
                    self._flush()
                finally:
                    self._is_closed = True
                    self._wake.notify()
                    self._done.notify_all()
        finally:
            _open_writers.discard(self)
            if self._thread is not None:
                self._thread.join()
            self._file.close()

    def _check(self):
        if self._error is not None:
            raise self._error
        if self._pid != os.getpid():
            raise RuntimeError("This writer was made before fork(); make a new one in the child process.")

    # ---- With the lock held ---------------------------------------------------------------------------------------

    def _flush(self):
        target = self._flush_to = self._added
        self._wake.notify()
        while self._flushed < target and not self._is_closed and self._error is None:
            self._done.wait()
        self._check()

    def _is_full(self):
        return len(self._waiting) >= self._max_queue or self._waiting_bytes > _MOST_BYTES_WAITING

    def _is_half_full(self):
        return len(self._waiting) * 2 > self._max_queue or self._waiting_bytes * 2 > _MOST_BYTES_WAITING

    def _is_flush_due(self):
        return self._flush_to > self._flushed or (
            self._flushed < self._added and time.monotonic() >= self._next_flush
        )

    # ---- What the thread does -------------------------------------------------------------------------------------

    def _work(self):
        while True:
            with self._lock:
                while not (self._is_closed or self._is_half_full() or self._is_flush_due()):
                    is_idle = self._flushed == self._added
                    self._wake.wait(None if is_idle else max(self._next_flush - time.monotonic(), 0))
                if self._is_closed:
                    return
                events, self._waiting, self._waiting_bytes = self._waiting, [], 0
                added, is_due = self._added, self._is_flush_due()
            error = self._write(events, is_due)
            with self._lock:
                self._error = self._error or error
                if is_due:
                    self._flushed = added
                    self._next_flush = time.monotonic() + self._flush_secs
                self._done.notify_all()

    def _write(self, events, is_due):
        try:
            if events:
                self._file.write(events)
            if is_due:
                self._file.flush()
        except Exception as error:
            return error
        return None
