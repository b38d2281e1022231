"""Readers: what turns a queue of file names into records; tf.TextLineReader and its kin."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.default_graph import require_graph
from stillflow.graph.operation import Tensor
from stillflow.names import public


@public("ReaderBase")
class ReaderBase:
    """A reader takes names of work from a queue, one when it has done with the last, and makes records of them.

    Args:
      reader_ref: the handle, as a reader op makes it.
      supports_serialize: whether its state can be serialized.
    """

    def __init__(self, reader_ref, supports_serialize=False):
        require_graph(
            "Readers are not supported when eager execution is enabled. Instead, please use tf.data to get data into "
            "your model."
        )
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    @property
    def reader_ref(self):
        """The handle of the reader."""
        return self._reader_ref

    @property
    def supports_serialize(self):
        """Whether the reader's state can be serialized."""
        return self._supports_serialize

    def _build(self, op_name):
        is_resource = self._reader_ref.dtype == dtypes.resource
        return getattr(ops, f"{op_name}_v2" if is_resource else op_name)

    def read(self, queue, name=None):
        """The next record: (key, value), two string scalars. Takes names from the queue as it needs them.

        Args:
          queue: a queue of strings, or the handle of one.

        Raises:
          At run time: what the queue raises, so tf.errors.OutOfRangeError when it is closed and empty; NotFoundError
          for a file that is not there, DataLossError for a damaged one. The next read goes on with the next file.
        """
        return self._build("reader_read")(self._reader_ref, _handle_of(queue), name=name)

    def read_up_to(self, queue, num_records, name=None):
        """The next records, at least one and at most `num_records`: (keys, values), two string vectors.

        They are of one file: there are fewer where a file ends.

        Raises:
          At run time: as `read`; tf.errors.InvalidArgumentError if `num_records` is negative.
        """
        return self._build("reader_read_up_to")(self._reader_ref, _handle_of(queue), num_records, name=name)

    def num_records_produced(self, name=None):
        """An int64 scalar: how many records have been read."""
        return self._build("reader_num_records_produced")(self._reader_ref, name=name)

    def num_work_units_completed(self, name=None):
        """An int64 scalar: how many pieces of work are done."""
        return self._build("reader_num_work_units_completed")(self._reader_ref, name=name)

    def serialize_state(self, name=None):
        """A string scalar from which `restore_state` makes the reader what it is now.

        Raises:
          At run time: tf.errors.UnimplementedError if the reader does not support it.
        """
        return self._build("reader_serialize_state")(self._reader_ref, name=name)

    def restore_state(self, state, name=None):
        """The operation that makes the reader what it was when `state` was serialized.

        Raises:
          ValueError: if `state` is no scalar.
          At run time: tf.errors.UnimplementedError if the reader does not support it, InvalidArgumentError for
          what is no state.
        """
        return self._build("reader_restore_state")(self._reader_ref, state, name=name)

    def reset(self, name=None):
        """The operation that makes the reader what it was at first."""
        return self._build("reader_reset")(self._reader_ref, name=name)


def _handle_of(queue):
    return queue if isinstance(queue, Tensor) else queue.queue_ref


@public("WholeFileReader")
class WholeFileReader(ReaderBase):
    """Makes one record of each file: its name and what is in it."""

    def __init__(self, name=None):
        super().__init__(ops.whole_file_reader_v2(name=name), supports_serialize=True)


@public("TextLineReader")
class TextLineReader(ReaderBase):
    """Makes a record of each line of text files, without what ends it; the key is "file:number", from 1 on.

    Args:
      skip_header_lines: how many lines at the beginning of each file are no records.
    """

    def __init__(self, skip_header_lines=None, name=None):
        super().__init__(ops.text_line_reader_v2(skip_header_lines=skip_header_lines, name=name))


@public("FixedLengthRecordReader")
class FixedLengthRecordReader(ReaderBase):
    """Makes records of so many bytes; the key is "file:number", from 0 on.

    Args:
      record_bytes: the size of a record.
      header_bytes, footer_bytes: the sizes of what is before the first record and after the last.
      hop_bytes: from the beginning of one record to that of the next; by default `record_bytes`.
      encoding: how files are compressed: "ZLIB" or "GZIP", or "" for not at all.

    Raises:
      At run time: tf.errors.InvalidArgumentError for negative sizes, and records of no bytes.
    """

    def __init__(
        self, record_bytes, header_bytes=None, footer_bytes=None, hop_bytes=None, name=None, encoding=None
    ):  # fmt: skip
        super().__init__(
            ops.fixed_length_record_reader_v2(
                record_bytes=record_bytes, header_bytes=header_bytes, footer_bytes=footer_bytes, hop_bytes=hop_bytes,
                encoding=encoding, name=name,
            )
        )  # fmt: skip


@public("TFRecordReader")
class TFRecordReader(ReaderBase):
    """Makes a record of each record of TFRecord files; the key is "file:place", where in the file it begins.

    Args:
      options: a TFRecordOptions, or a compression type.

    Raises:
      ValueError: for an unknown compression type.
    """

    def __init__(self, name=None, options=None):
        from stillflow.files.records import TFRecordOptions

        compression_type = TFRecordOptions.get_compression_type_string(options)
        super().__init__(ops.tf_record_reader_v2(compression_type=compression_type, name=name))


@public("IdentityReader")
class IdentityReader(ReaderBase):
    """Makes one record of each piece of work: its name, as key and as value."""

    def __init__(self, name=None):
        super().__init__(ops.identity_reader_v2(name=name), supports_serialize=True)
