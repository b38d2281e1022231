"""TFRecord framing: each record between its length and its checksum, the whole stream plain, gzip or zlib."""

from __future__ import annotations

import struct
import zlib

from stillflow import _engine, errors

_LENGTH = struct.Struct("<Q")
_CRC = struct.Struct("<I")
_HEADER_BYTES = 12
_FOOTER_BYTES = 4
_CHUNK_BYTES = 1 << 18

GZIP_BITS = 16  # what zlib wants to hear for gzip streams


def framed(record: bytes) -> bytes:
    """A record as it stands in a file."""
    length = _LENGTH.pack(len(record))
    return b"".join((length, _crc(length), record, _crc(record)))


def _crc(data):
    return _CRC.pack(_engine.masked_crc32c(data))


def read_records(stream):
    """Yields the records of a file object or an Inflated one.

    A file may end within the 12 bytes before a record, as it does while something writes to it.

    Raises DataLossError for a record that is cut off or does not fit its checksums, after all before it.
    """
    offset = 0
    while True:
        header = _read(stream, _HEADER_BYTES)
        if len(header) < _HEADER_BYTES:
            return
        if header[8:] != _crc(header[:8]):
            raise _corrupted(offset)
        length = _LENGTH.unpack_from(header)[0]
        record = _read(stream, length)
        footer = _read(stream, _FOOTER_BYTES) if len(record) == length else b""
        if len(footer) < _FOOTER_BYTES:
            raise errors.make(errors.DATA_LOSS, f"truncated record at {offset}")
        if footer != _crc(record):
            raise _corrupted(offset + _HEADER_BYTES)
        yield record
        offset += _HEADER_BYTES + length + _FOOTER_BYTES


def _corrupted(offset):
    return errors.make(errors.DATA_LOSS, f"corrupted record at {offset}")


def _read(stream, size):
    """That many bytes, or what is left of them. A size that is not true takes no more memory than the file."""
    if size <= _CHUNK_BYTES:
        return stream.read(size)
    chunks = []
    while size > 0:
        chunk = stream.read(min(size, _CHUNK_BYTES))
        if not chunk:
            break
        chunks.append(chunk)
        size -= len(chunk)
    return b"".join(chunks)


class Inflated:
    """What a gzip or zlib stream says, read as a file object is."""

    def __init__(self, stream, compression: str, window_bits: int = zlib.MAX_WBITS):
        """`compression` is "GZIP" or "ZLIB"."""
        self._stream = stream
        self._bits = window_bits + (GZIP_BITS if compression == "GZIP" else 0)
        self._is_gzip = compression == "GZIP"
        self._inflate = zlib.decompressobj(self._bits)
        self._ready = b""
        self._used = 0

    def read(self, size: int) -> bytes:
        """Raises DataLossError where the stream is damaged."""
        parts = []
        while size > 0:
            if self._used == len(self._ready) and not self._fill():
                break
            part = self._ready[self._used : self._used + size]
            self._used += len(part)
            size -= len(part)
            parts.append(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _fill(self):
        """Inflates the next piece. False at the end."""
        self._ready, self._used = b"", 0
        while not self._ready:
            source = self._inflate.unconsumed_tail
            if self._inflate.eof:
                source = self._inflate.unused_data or self._stream.read(_CHUNK_BYTES)
                if not self._is_gzip or not source.startswith(b"\x1f\x8b"):
                    return False
                self._inflate = zlib.decompressobj(self._bits)  # gzip files may be put after one another
            source = source or self._stream.read(_CHUNK_BYTES)
            try:
                self._ready = self._inflate.decompress(source, _CHUNK_BYTES)
            except zlib.error as error:
                raise errors.make(errors.DATA_LOSS, _inflate_text(error)) from None
            if not source and not self._ready:
                return False
        return True


def _inflate_text(error):
    """zlib's word on a damaged stream, as TensorFlow repeats it."""
    code, _, reason = str(error).removeprefix("Error ").partition(" while decompressing data")
    return f"inflate() failed with error {code}{reason}"
