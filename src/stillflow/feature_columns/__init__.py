"""tf.feature_column: how raw features become what a model takes: numbers, buckets, categories, crosses, embeddings.

A column is a description without state. `transform_feature` makes tensors of raw features, once for all columns that
share them (see transformation.py); `get_dense_tensor` and `get_sparse_tensors` give them to a model; variables come
from who uses the column (see state.py).
"""

from stillflow.names import passes_on

passes_on(
    "python.feature_column.feature_column_lib",
    "python.feature_column.feature_column_v2",
    "python.feature_column.sequence_feature_column",
    "python.feature_column.serialization",
)
