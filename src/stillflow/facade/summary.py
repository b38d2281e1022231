"""tf.summary."""

from stillflow.composites.summaries import (
    audio,
    histogram,
    image,
    merge,
    merge_all,
    scalar,
    tensor_summary,
    text,
)
from stillflow.facade.messages import offering
from stillflow.summary.writer import FileWriter, FileWriterCache, all_v2_summary_ops, get_summary_description

__getattr__ = offering(__name__, "Event SessionLog Summary SummaryDescription TaggedRunMetadata")
