"""TFRecord files: tf.python_io.TFRecordWriter, tf_record_iterator and their options."""

from __future__ import annotations

import zlib

from stillflow import errors
from stillflow.files.filesystem import path_text, system_of, typed_errors
from stillflow.formats import records
from stillflow.names import public


@public("io.TFRecordCompressionType", "python_io.TFRecordCompressionType")
class TFRecordCompressionType:
    """How the whole of a file is compressed."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


_NAMES = {0: "", 1: "ZLIB", 2: "GZIP"}


@public("io.TFRecordOptions", "python_io.TFRecordOptions")
class TFRecordOptions:
    """How a TFRecord file is, or is to be, compressed.

    Args:
      compression_type: a member of TFRecordCompressionType, or "", "GZIP" or "ZLIB".
      flush_mode: what a flush does to the compressed stream, as zlib's; by default nothing.
      input_buffer_size: accepted; buffers have a size of their own.
      output_buffer_size: accepted.
      window_bits: zlib's, between 9 and 15.
      compression_level: from 0 to 9, or -1.
      compression_method: zlib's.
      mem_level: from 1 to 9.
      compression_strategy: zlib's.

    Raises ValueError for an unknown compression type.
    """

    compression_type_map = _NAMES

    def __init__(
        self, compression_type=None, flush_mode=None, input_buffer_size=None, output_buffer_size=None,
        window_bits=None, compression_level=None, compression_method=None, mem_level=None,
        compression_strategy=None,
    ):  # fmt: skip
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options):
        """ "", "ZLIB" or "GZIP" for options, a compression type, or None. Raises ValueError for others."""
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if options in _NAMES:
            return _NAMES[options]
        if options in _NAMES.values():
            return options
        raise ValueError(f'Not a valid compression_type: "{options}"')

    def _window_bits(self):
        return zlib.MAX_WBITS if self.window_bits is None else self.window_bits

    def _new_compressor(self):
        """None for plain files. Raises InvalidArgumentError for settings that zlib refuses."""
        kind = self.get_compression_type_string(self)
        if not kind:
            return None
        try:
            return zlib.compressobj(
                _or_default(self.compression_level, zlib.Z_DEFAULT_COMPRESSION),
                _or_default(self.compression_method, zlib.DEFLATED),
                self._window_bits() + (records.GZIP_BITS if kind == "GZIP" else 0),
                _or_default(self.mem_level, zlib.DEF_MEM_LEVEL),
                _or_default(self.compression_strategy, zlib.Z_DEFAULT_STRATEGY),
            )
        except (ValueError, zlib.error) as error:
            raise errors.make(errors.INVALID_ARGUMENT, f"deflateInit failed: {error}") from None


def _or_default(value, default):
    return default if value is None else value


def _as_options(options):
    return options if isinstance(options, TFRecordOptions) else TFRecordOptions(options)


@public("io.TFRecordWriter", "python_io.TFRecordWriter")
class TFRecordWriter:
    """Writes records to a file, which it replaces.

    Args:
      path: where the file is to be.
      options: TFRecordOptions, a TFRecordCompressionType, or its name.

    Raises:
      ValueError: for an unknown compression type.
      tf.errors.NotFoundError: if the directory is not there.
      tf.errors.InvalidArgumentError: for settings that zlib refuses.
      At write, flush and close: what the file system says, and FailedPreconditionError after close.
    """

    def __init__(self, path, options=None):
        options = _as_options(options)
        self._path = path_text(path)
        self._compressor = options._new_compressor()
        self._flush_mode = _or_default(options.flush_mode, zlib.Z_NO_FLUSH)
        with typed_errors(self._path):
            files, name = system_of(self._path)
            self._file = files.open(name, "wb")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def write(self, record):
        """Adds a record, which is bytes."""
        if not isinstance(record, bytes):
            raise TypeError(f"expected bytes, {type(record).__name__} found")
        data = records.framed(record)
        file = self._opened()
        with typed_errors(self._path):
            file.write(data if self._compressor is None else self._compressor.compress(data))

    def flush(self):
        """Hands what was written to the file system, but for what a compressed stream keeps by its flush_mode."""
        file = self._opened()
        with typed_errors(self._path):
            if self._compressor is not None and self._flush_mode != zlib.Z_NO_FLUSH:
                file.write(self._compressor.flush(self._flush_mode))
            file.flush()

    def close(self):
        """Ends the file; of one that has ended, nothing."""
        if self._file is None:
            return
        file, self._file = self._file, None
        with typed_errors(self._path):
            try:
                if self._compressor is not None:
                    file.write(self._compressor.flush(zlib.Z_FINISH))
            finally:
                file.close()

    def _opened(self):
        if self._file is None:
            raise errors.make(errors.FAILED_PRECONDITION, "Writer not initialized or previously closed")
        return self._file


@public("io.tf_record_iterator", "python_io.tf_record_iterator")
def tf_record_iterator(path, options=None):
    """Yields the records of a file, which are bytes.

    Args:
      path: the file.
      options: TFRecordOptions, a TFRecordCompressionType, or its name.

    Raises:
      ValueError: for an unknown compression type.
      tf.errors.NotFoundError: if there is no such file.
      tf.errors.DataLossError: at a record that is damaged or cut off; those before it are yielded first.
    """
    options = _as_options(options)
    compression = options.get_compression_type_string(options)
    path = path_text(path)
    with typed_errors(path):
        files, name = system_of(path)
        file = files.open(name, "rb")
    return _records_of(file, path, compression, options._window_bits())


def _records_of(file, path, compression, window_bits):
    with file:
        stream = records.Inflated(file, compression, window_bits) if compression else file
        found = records.read_records(stream)
        while True:
            with typed_errors(path):
                record = next(found, None)
            if record is None:
                return
            yield record
