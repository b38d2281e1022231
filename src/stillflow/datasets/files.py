"""tf.data.TextLineDataset and its kin: data sets of what is in files."""

from __future__ import annotations

from stillflow import ops
from stillflow.datasets import structure
from stillflow.datasets.arguments import optional_param_to_tensor
from stillflow.datasets.dataset import DatasetV1, DatasetV1Adapter, DatasetV2
from stillflow.datasets.node import DatasetNode, DatasetSource
from stillflow.graph import dtypes
from stillflow.graph.shape import TensorShape
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor

_BUFFER_BYTES = 256 * 1024


class _StringDataset(DatasetSource):
    @property
    def element_spec(self):
        return TensorSpec([], dtypes.string)


class _TextLineDataset(_StringDataset):
    def __init__(self, filenames, compression_type=None, buffer_size=None):
        self._filenames = filenames
        self._compression_type = optional_param_to_tensor("compression_type", compression_type, "", dtypes.string)
        self._buffer_size = optional_param_to_tensor("buffer_size", buffer_size, _BUFFER_BYTES)
        super().__init__(ops.text_line_dataset(filenames, self._compression_type, self._buffer_size))


class RecordFileDataset(_StringDataset):
    """The records of files whose names are a tensor."""

    def __init__(self, filenames, compression_type=None, buffer_size=None):
        self._filenames = filenames
        self._compression_type = optional_param_to_tensor("compression_type", compression_type, "", dtypes.string)
        self._buffer_size = optional_param_to_tensor("buffer_size", buffer_size, _BUFFER_BYTES)
        super().__init__(ops.tf_record_dataset(filenames, self._compression_type, self._buffer_size))


class _FixedLengthRecordDataset(_StringDataset):
    def __init__(
        self, filenames, record_bytes, header_bytes=None, footer_bytes=None, buffer_size=None, compression_type=None
    ):
        self._filenames = filenames
        self._record_bytes = convert_to_tensor(record_bytes, dtype=dtypes.int64, name="record_bytes")
        self._header_bytes = optional_param_to_tensor("header_bytes", header_bytes)
        self._footer_bytes = optional_param_to_tensor("footer_bytes", footer_bytes)
        self._buffer_size = optional_param_to_tensor("buffer_size", buffer_size, _BUFFER_BYTES)
        self._compression_type = optional_param_to_tensor("compression_type", compression_type, "", dtypes.string)
        variant = ops.fixed_length_record_dataset_v2(
            filenames,
            self._header_bytes,
            self._record_bytes,
            self._footer_bytes,
            self._buffer_size,
            self._compression_type,
        )
        super().__init__(variant)


# ---- Several files ----------------------------------------------------------------------------------------------


class _Files(DatasetV2):
    """What a data set for each file brings, one file after the other or some in turns."""

    _may_batch = _may_reorder = False

    def __init__(self, filenames, make, num_parallel_reads):
        def read_one_file(filename):
            return make(convert_to_tensor(filename, dtypes.string, name="filename"))

        self._filenames = _dataset_of(filenames)
        if num_parallel_reads is None:
            self._impl = self._filenames.flat_map(read_one_file)
        else:
            self._impl = self._filenames.interleave(
                read_one_file, cycle_length=num_parallel_reads, num_parallel_calls=num_parallel_reads
            )
        super().__init__(self._impl._variant_tensor)

    def _inputs(self):
        return []

    @property
    def element_spec(self):
        return TensorSpec([], dtypes.string)


class _RecordFiles(_Files):
    """The same, which is made of the names of files."""

    def _inputs(self):
        return self._impl._inputs()


def _dataset_of(filenames):
    """Names of files, or a data set of them, as a data set. Raises TypeError for one of anything else."""
    if not isinstance(filenames, DatasetNode):
        filenames = convert_to_tensor(filenames, dtype=dtypes.string)
        return DatasetV1.from_tensor_slices(ops.reshape(filenames, [-1], name="flat_filenames"))
    spec = filenames.element_spec
    if structure.output_types(spec) != dtypes.string:
        raise TypeError("`filenames` must be a `tf.data.Dataset` of `tf.string` elements.")
    if not structure.output_shapes(spec).is_compatible_with(TensorShape([])):
        raise TypeError("`filenames` must be a `tf.data.Dataset` of scalar `tf.string` elements.")
    return filenames


class _FilesV1(DatasetV1Adapter):
    _dataset: _Files

    @property
    def _filenames(self):
        return self._dataset._filenames


@public("data.TextLineDataset")
class TextLineDataset(_FilesV1):
    """The lines of text files, without what ends them.

    Args:
      filenames: strings, or a data set of them.
      compression_type: "", "ZLIB" or "GZIP", for all files.
      buffer_size: how many bytes are read at a time; 0 leaves it open.
      num_parallel_reads: how many files take turns; one after the other if None.

    Raises TypeError for other data sets. At run time: tf.errors.NotFoundError and its kin, DataLossError for damaged
    files.
    """

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None):
        def make(filename):
            return _TextLineDataset(filename, compression_type, buffer_size)

        super().__init__(_Files(filenames, make, num_parallel_reads))


@public("data.TFRecordDataset")
class TFRecordDataset(_FilesV1):
    """The records of TFRecord files.

    Args:
      filenames: strings, or a data set of them.
      compression_type: "", "ZLIB" or "GZIP", for all files.
      buffer_size: how many bytes are read at a time; 0 leaves it open.
      num_parallel_reads: how many files take turns; one after the other if None.

    Raises TypeError for other data sets. At run time: tf.errors.NotFoundError and its kin; DataLossError for damaged
    records, behind which the next file follows.
    """

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None):
        def make(filename):
            return RecordFileDataset(filename, compression_type, buffer_size)

        super().__init__(_RecordFiles(filenames, make, num_parallel_reads))


@public("data.FixedLengthRecordDataset")
class FixedLengthRecordDataset(_FilesV1):
    """The records of files in which each has the same number of bytes.

    Args:
      filenames: strings, or a data set of them.
      record_bytes, header_bytes, footer_bytes: the length of a record, and of what is before and after all of them.
      buffer_size: how many bytes are read at a time; 0 leaves it open.
      compression_type: "", "ZLIB" or "GZIP", for all files.
      num_parallel_reads: how many files take turns; one after the other if None.

    Raises TypeError for other data sets. At run time: tf.errors.NotFoundError and its kin, InvalidArgumentError for
    files of another length.
    """

    def __init__(
        self, filenames, record_bytes, header_bytes=None, footer_bytes=None, buffer_size=None, compression_type=None,
        num_parallel_reads=None,
    ):  # fmt: skip
        def make(filename):
            return _FixedLengthRecordDataset(
                filename, record_bytes, header_bytes, footer_bytes, buffer_size, compression_type
            )

        super().__init__(_Files(filenames, make, num_parallel_reads))
