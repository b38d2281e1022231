"""tf.raw_ops: each op as a function that adds a node, and nothing else. Arguments go by name."""

from __future__ import annotations

import functools
import typing

from stillflow import ops
from stillflow.graph import op_def as op_defs
from stillflow.names import public_module
from stillflow.ops import build

public_module("raw_ops")


# What the Python API calls arguments of ops.
_PYTHON_NAMES = {
    **{name: {"axis": "reduction_indices"} for name in "All Any EuclideanNorm Max Mean Min Prod Sum".split()},
    "ExpandDims": {"axis": "dim"},
    "Select": {"x": "t", "y": "e"},
    "Split": {"axis": "split_dim"},
    "SplitV": {"axis": "split_dim"},
    "Squeeze": {"axis": "squeeze_dims"},
    "Where": {"condition": "input"},
}
# Ops of the libraries of tf.contrib and those that TensorFlow hides, which are not here.
_OF_CONTRIB = set(
    "BipartiteMatch BytesInUse BytesLimit ImageConnectedComponents MaxBytesInUse SingleImageRandomDotStereograms "
    "Resampler ResamplerGrad ZeroInitializer ZeroVarInitializer "
    "GatherTree ImageProjectiveTransformV2 KMC2ChainInitialization KmeansPlusPlusInitialization MaskedMatmul "
    "NearestNeighbors SparseFeatureCross SparseFeatureCrossV2 WALSComputePartialLhsAndRhs "
    "CreateFertileStatsVariable CreateTreeVariable DecisionTreeResourceHandleOp FeatureUsageCounts "
    "FertileStatsDeserialize FertileStatsIsInitializedOp FertileStatsResourceHandleOp FertileStatsSerialize "
    "GrowTreeV4 ProcessInputV4 TraverseTreeV4 TreeDeserialize TreeIsInitializedOp TreePredictionsV4 TreeSerialize "
    "TreeSize UpdateModelV4 "
    "BucketizeWithInputBoundaries BuildCategoricalEqualitySplits BuildDenseInequalitySplits "
    "BuildSparseInequalitySplits CenterTreeEnsembleBias CreateQuantileAccumulator CreateStatsAccumulatorScalar "
    "CreateStatsAccumulatorTensor CreateTreeEnsembleVariable DecisionTreeEnsembleResourceHandleOp "
    "GradientTreesPartitionExamples GradientTreesPrediction GradientTreesPredictionVerbose GrowTreeEnsemble "
    "MakeQuantileSummaries QuantileAccumulatorAddSummaries QuantileAccumulatorDeserialize QuantileAccumulatorFlush "
    "QuantileAccumulatorFlushSummary QuantileAccumulatorGetBuckets QuantileAccumulatorIsInitialized "
    "QuantileAccumulatorSerialize QuantileBuckets QuantileStreamResourceHandleOp Quantiles StatsAccumulatorScalarAdd "
    "StatsAccumulatorScalarDeserialize StatsAccumulatorScalarFlush StatsAccumulatorScalarIsInitialized "
    "StatsAccumulatorScalarMakeSummary StatsAccumulatorScalarResourceHandleOp StatsAccumulatorScalarSerialize "
    "StatsAccumulatorTensorAdd StatsAccumulatorTensorDeserialize StatsAccumulatorTensorFlush "
    "StatsAccumulatorTensorIsInitialized StatsAccumulatorTensorMakeSummary StatsAccumulatorTensorResourceHandleOp "
    "StatsAccumulatorTensorSerialize TreeEnsembleDeserialize TreeEnsembleIsInitializedOp TreeEnsembleSerialize "
    "TreeEnsembleStampToken TreeEnsembleStats TreeEnsembleUsedHandlers".split()
)


@functools.cache
def function(op_type):
    """The function that adds a node of an op. Raises KeyError for an op that there is not."""
    op_def = op_defs.find(op_type)
    if op_def is None:
        raise KeyError(op_type)
    return build.function_of(op_def)


@functools.cache
def _by_name(op_type):
    add = function(op_type)
    own_names = _PYTHON_NAMES.get(op_type, {})

    def call(*args, **kwargs):
        if args:
            raise TypeError(
                f"{op_type} only takes keyword args (possible keys: {list(by_name.__signature__.parameters)}). "
                "Please pass these args as kwargs instead."
            )
        return add(**{own_names.get(name, name): value for name, value in kwargs.items()})

    by_name: typing.Any = call
    by_name.__name__ = op_type
    python_names = {own: name for name, own in own_names.items()}
    op_def: typing.Any = op_defs.find(op_type)
    by_name.__doc__ = f"Adds a node of the op {op_type}.\n\n{op_defs.description(op_def)}"
    signature = build.signature(op_def)
    parameters = [p.replace(name=python_names.get(p.name, p.name)) for p in signature.parameters.values()]
    by_name.__signature__ = signature.replace(parameters=parameters)
    return by_name


def __getattr__(name):
    try:
        return _by_name(name)
    except KeyError:
        raise AttributeError(f"module 'stillflow.raw_ops' has no attribute {name!r}") from None


def __dir__():
    return [op_type for op_type in ops.all_op_types() if op_type not in _OF_CONTRIB]
