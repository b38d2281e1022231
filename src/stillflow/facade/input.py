"""tf.*: queues, accumulators and readers."""

from stillflow.resources.accumulators import (
    ConditionalAccumulator,
    ConditionalAccumulatorBase,
    SparseConditionalAccumulator,
)
from stillflow.resources.queues import FIFOQueue, PaddingFIFOQueue, PriorityQueue, QueueBase, RandomShuffleQueue
from stillflow.resources.readers import (
    FixedLengthRecordReader,
    IdentityReader,
    ReaderBase,
    TextLineReader,
    TFRecordReader,
    WholeFileReader,
)

__all__ = [
    "ConditionalAccumulator",
    "ConditionalAccumulatorBase",
    "FIFOQueue",
    "FixedLengthRecordReader",
    "IdentityReader",
    "PaddingFIFOQueue",
    "PriorityQueue",
    "QueueBase",
    "RandomShuffleQueue",
    "ReaderBase",
    "SparseConditionalAccumulator",
    "TFRecordReader",
    "TextLineReader",
    "WholeFileReader",
]
