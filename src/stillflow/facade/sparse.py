"""tf.sparse."""

from stillflow.facade.segments import sparse_segment_mean as segment_mean
from stillflow.facade.segments import sparse_segment_sqrt_n as segment_sqrt_n
from stillflow.facade.segments import sparse_segment_sum as segment_sum

__all__ = ["segment_mean", "segment_sqrt_n", "segment_sum"]
