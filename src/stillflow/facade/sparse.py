"""tf.sparse: sparse tensors, and segments of rows picked by index."""

from stillflow.facade.segments import sparse_segment_mean as segment_mean
from stillflow.facade.segments import sparse_segment_sqrt_n as segment_sqrt_n
from stillflow.facade.segments import sparse_segment_sum as segment_sum
from stillflow.facade.sparse_tensors import SparseTensor as SparseTensor
from stillflow.facade.sparse_tensors import from_dense as from_dense
from stillflow.facade.sparse_tensors import sparse_add as add
from stillflow.facade.sparse_tensors import sparse_concat as concat
from stillflow.facade.sparse_tensors import sparse_expand_dims as expand_dims
from stillflow.facade.sparse_tensors import sparse_eye as eye
from stillflow.facade.sparse_tensors import sparse_fill_empty_rows as fill_empty_rows
from stillflow.facade.sparse_tensors import sparse_mask as mask
from stillflow.facade.sparse_tensors import sparse_maximum as maximum
from stillflow.facade.sparse_tensors import sparse_merge as merge
from stillflow.facade.sparse_tensors import sparse_minimum as minimum
from stillflow.facade.sparse_tensors import sparse_placeholder as placeholder
from stillflow.facade.sparse_tensors import sparse_reduce_max as reduce_max
from stillflow.facade.sparse_tensors import sparse_reduce_max_sparse as reduce_max_sparse
from stillflow.facade.sparse_tensors import sparse_reduce_sum as reduce_sum
from stillflow.facade.sparse_tensors import sparse_reduce_sum_sparse as reduce_sum_sparse
from stillflow.facade.sparse_tensors import sparse_reorder as reorder
from stillflow.facade.sparse_tensors import sparse_reset_shape as reset_shape
from stillflow.facade.sparse_tensors import sparse_reshape as reshape
from stillflow.facade.sparse_tensors import sparse_retain as retain
from stillflow.facade.sparse_tensors import sparse_slice as slice
from stillflow.facade.sparse_tensors import sparse_softmax as softmax
from stillflow.facade.sparse_tensors import sparse_split as split
from stillflow.facade.sparse_tensors import sparse_tensor_dense_matmul as matmul
from stillflow.facade.sparse_tensors import sparse_tensor_dense_matmul as sparse_dense_matmul
from stillflow.facade.sparse_tensors import sparse_tensor_to_dense as to_dense
from stillflow.facade.sparse_tensors import sparse_to_indicator as to_indicator
from stillflow.facade.sparse_tensors import sparse_transpose as transpose
from stillflow.resources.accumulators import SparseConditionalAccumulator as SparseConditionalAccumulator

__all__ = [
    "SparseTensor",
    "add",
    "concat",
    "expand_dims",
    "eye",
    "fill_empty_rows",
    "from_dense",
    "mask",
    "matmul",
    "maximum",
    "merge",
    "minimum",
    "placeholder",
    "reduce_max",
    "reduce_max_sparse",
    "reduce_sum",
    "reduce_sum_sparse",
    "reorder",
    "reset_shape",
    "reshape",
    "retain",
    "segment_mean",
    "segment_sqrt_n",
    "segment_sum",
    "slice",
    "softmax",
    "sparse_dense_matmul",
    "split",
    "to_dense",
    "to_indicator",
    "transpose",
]
