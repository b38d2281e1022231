"""tf.io."""

from stillflow.composites.parsing import parse_sequence_example
from stillflow.facade import io_gfile as gfile
from stillflow.facade.image import (
    decode_and_crop_jpeg,
    decode_bmp,
    decode_gif,
    decode_image,
    decode_jpeg,
    decode_png,
    encode_jpeg,
    extract_jpeg_shape,
    is_jpeg,
)
from stillflow.facade.parsing import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    SparseFeature,
    VarLenFeature,
    decode_compressed,
    decode_csv,
    decode_json_example,
    decode_raw,
    matching_files,
    parse_example,
    parse_single_example,
    parse_single_sequence_example,
    parse_tensor,
    read_file,
    serialize_tensor,
    write_file,
)
from stillflow.facade.string_names import decode_base64, encode_base64
from stillflow.files.records import (
    TFRecordCompressionType,
    TFRecordOptions,
    TFRecordWriter,
    tf_record_iterator,
)
from stillflow.importer.graph_util import write_graph
from stillflow.resources.queues import PaddingFIFOQueue, PriorityQueue, QueueBase, RandomShuffleQueue
from stillflow.training.input_producers import match_filenames_once
