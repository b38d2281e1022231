"""Finds out by trial which element types the kernels of all ops take, for docs/compatibility.md.

Every op is run, for each type that its signature allows, with small inputs: SAMPLES has values for inputs of these
names, and everything else is a matrix of ones. An op takes a type unless its kernel says that it does not; if a trial
fails for another reason, `types_of` has no answer.
"""

from __future__ import annotations

import numpy as np

import stillflow as tf
from stillflow import ops
from stillflow.errors import OpError, UnimplementedError
from stillflow.graph import op_def as op_defs
from stillflow.ops import build

TYPES = (
    "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool string complex64 "
    "complex128"
).split()
# Names of type attributes that say which integers count something, not what is computed.
_INDEX_TYPES = set(
    "Tidx Tindices Taxis Tperm Tshape Tpaddings Tmultiples Tlen Tdim Tnumsegments Index out_idx S".split()
)

MATRIX = (2, 2)
SAMPLES = {
    "reduction_indices": 0, "axis": 0, "dim": 0, "split_dim": 0, "concat_dim": 0, "dimension": 0, "k": 1,
    "paddings": [[0, 0], [0, 0]], "perm": [1, 0], "shape": [2, 2], "dims": [2, 2], "multiples": [1, 1],
    "begin": [0, 0], "end": [1, 1], "strides": [1, 1], "size": [1, 1], "indices": [0, 1], "segment_ids": [0, 1],
    "num_segments": 2, "output_dim0": 2, "seq_lengths": [1, 1], "size_splits": [1, 1], "num_lower": 0, "num_upper": 0,
    "depth": 2, "num_samples": 1, "seed": [1, 2], "minval": 0, "maxval": 5, "output_shape": [2, 2], "shift": 0,
    "start": 0, "limit": 2, "delta": 1, "stop": 3, "num": 2, "labels": [0, 1], "targets": [0, 1], "pred": True,
    "a_indices": [[0, 0]], "b_indices": [[0, 0]], "a_shape": [2, 2], "b_shape": [2, 2], "sp_indices": [[0, 0]],
    "sp_shape": [2, 2], "input_indices": [[0, 0]], "input_shape": [2, 2], "sum_indices": [[0, 0]],
    "output_indices": [[0, 0]], "input_start": [0, 0], "sparse_indices": [0, 1], "dense_shape": [2, 2],
    "reverse_index_map": [0], "new_shape": [4], "global_step": 1, "true_classes": [[0]], "num_buckets": 3,
    "partitions": [0, 1], "shapes": [2, 2], "message": "", "lower": 0, "upper": 1, "num_required": 1,
    "reduction_axes": 0, "batch_dims": 0, "offset": [0, 0], "image_size": [3, 3, 3],
    "bounding_boxes": [[[0.1, 0.1, 0.9, 0.9]]], "means": 0, "stdevs": 1, "minvals": -1, "maxvals": 1,
}  # fmt: skip
# Numbers that are scalars, and vectors.
_SCALARS = set(
    "lr rho epsilon momentum l1 l2 l2_shrinkage lr_power alpha beta1 beta2 beta1_power beta2_power default_value "
    "thresh constant_values l2_regularizer nbins num min_object_covered on_value off_value rate "
    "logbase sign_decay".split()
)
_VECTORS = set(
    "a_values b_values sp_values input_values sparse_values backprop_val_grad grad_values bias value_range".split()
)
# [batch, input] = [2, 3] and a cell of 2.
_LSTM_STATE = {"cs_prev": (2, 2), "h_prev": (2, 2)}
_LSTM_WEIGHTS = {"w": (5, 8), "wci": (2,), "wcf": (2,), "wco": (2,), "b": (8,)}
_LSTM = {**_LSTM_STATE, **_LSTM_WEIGHTS, "x": (2, 3)}
_LSTM_SEQUENCE = {**_LSTM, "x": (1, 2, 3), "seq_len_max": 1}
_LSTM_STEPS = dict.fromkeys(("i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad"), (1, 2, 2))
_GRU = {"x": (2, 3), "h_prev": (2, 2), "w_ru": (5, 4), "w_c": (5, 2), "b_ru": (4,), "b_c": (2,)}
_PIXELS = (1, 2, 2, 1)
_BOX = {"boxes": [[0.0, 0.0, 1.0, 1.0]], "box_ind": [0]}
_SUPPRESSION = {
    "boxes": (1, 4), "scores": (1,), "max_output_size": 1, "iou_threshold": (), "score_threshold": (),
    "soft_nms_sigma": (),
}  # fmt: skip
_CELLS = {"row_pooling_sequence": [0, 1, 2], "col_pooling_sequence": [0, 1, 2]}
# op -> input -> a value, or the shape of one.
OF_OP = {
    "CropAndResize": {"image": _PIXELS, "crop_size": [2, 2], **_BOX},
    "CropAndResizeGradBoxes": {"grads": _PIXELS, "image": _PIXELS, **_BOX},
    "CropAndResizeGradImage": {"grads": _PIXELS, "image_size": [1, 2, 2, 1], **_BOX},
    "DrawBoundingBoxes": {"images": _PIXELS, "boxes": (1, 1, 4)},
    "DrawBoundingBoxesV2": {"images": _PIXELS, "boxes": (1, 1, 4), "colors": (1, 1)},
    "ImageProjectiveTransformV2": {
        "images": _PIXELS, "transforms": (1, 8), "output_shape": [2, 2],
    },
    **{f"NonMaxSuppressionV{version}": _SUPPRESSION for version in (2, 3, 4, 5)},
    "ScaleAndTranslate": {"images": _PIXELS, "size": [2, 2], "scale": (2,), "translation": (2,)},
    "ScaleAndTranslateGrad": {
        "grads": _PIXELS, "original_image": _PIXELS, "scale": (2,), "translation": (2,),
    },
    "ImageConnectedComponents": {"image": (1, 2, 2)},
    "KmeansPlusPlusInitialization": {"num_to_sample": 1, "seed": 1, "num_retries_per_sample": 1},
    "KMC2ChainInitialization": {"distances": [1.0, 2.0], "seed": 1},
    "MaskedMatmul": {"mask_indices": [[0, 0]], "transpose_a": False, "transpose_b": False},
    "WALSComputePartialLhsAndRhs": {
        "factor_weights": [], "input_weights": [], "unobserved_weights": 1.0, "input_indices": [[0, 0]],
        "input_values": [1.0], "entry_weights": [1.0], "input_block_size": 1, "input_is_transpose": False,
    },
    "Dilation2D": {"input": _PIXELS, "filter": (1, 1, 1)},
    "Dilation2DBackpropInput": {"input": _PIXELS, "filter": (1, 1, 1), "out_backprop": _PIXELS},
    "Dilation2DBackpropFilter": {"input": _PIXELS, "filter": (1, 1, 1), "out_backprop": _PIXELS},
    "LRN": {"input": _PIXELS}, "LRNGrad": dict.fromkeys(("input_grads", "input_image", "output_image"), _PIXELS),
    "LSTMBlockCell": _LSTM, "LSTMBlockCellGrad": _LSTM, "BlockLSTM": _LSTM_SEQUENCE, "BlockLSTMV2": _LSTM_SEQUENCE,
    "BlockLSTMGrad": _LSTM_SEQUENCE | _LSTM_STEPS, "BlockLSTMGradV2": _LSTM_SEQUENCE | _LSTM_STEPS,
    "CTCLoss": {"inputs": (2, 1, 2), "labels_indices": [[0, 0]], "labels_values": [0], "sequence_length": [2]},
    "CTCGreedyDecoder": {"inputs": (2, 1, 2), "sequence_length": [2]},
    "CTCBeamSearchDecoder": {"inputs": (2, 1, 2), "sequence_length": [2]},
    "FractionalMaxPool": {"value": _PIXELS}, "FractionalAvgPool": {"value": _PIXELS},
    "FractionalMaxPoolGrad": {**dict.fromkeys(("orig_input", "orig_output", "out_backprop"), _PIXELS), **_CELLS},
    "FractionalAvgPoolGrad": {"orig_input_tensor_shape": [1, 2, 2, 1], "out_backprop": _PIXELS, **_CELLS},
    "GRUBlockCell": _GRU, "GRUBlockCellGrad": _GRU,
    "GatherTree": {
        "step_ids": [[[1]]], "parent_ids": [[[0]]], "max_sequence_lengths": [1], "end_token": 2,
    },
    "ApplyAddSign": {"beta": ()}, "ApplyPowerSign": {"beta": ()}, "ResourceApplyAddSign": {"beta": ()},
    "ResourceApplyPowerSign": {"beta": ()},
    "All": {"reduction_indices": 0}, "Any": {"reduction_indices": 0}, "ExtractImagePatches": {"images": (1, 2, 2, 1)},
    "Range": {"start": 0, "limit": 2, "delta": 1}, "UnravelIndex": {"indices": [0, 1], "dims": [2, 2]},
    "ParameterizedTruncatedNormal": {"means": 0, "stdevs": 1, "minvals": -1, "maxvals": 1},
    "Unpack": {"value": (1, 2)}, "UnicodeEncode": {"input_values": [97], "input_splits": [0, 1]},
    "BiasAdd": {"value": (2, 2), "bias": (2,)}, "BiasAddV1": {"value": (2, 2), "bias": (2,)},
    "Bincount": {"arr": [0, 1], "size": 2, "weights": (2,)}, "BroadcastArgs": {"s0": [2], "s1": [2]},
    "Cholesky": {"input": [[2, 1], [1, 2]]}, "Lu": {"input": [[2, 1], [1, 2]]},
    "MatrixInverse": {"input": [[2, 1], [1, 2]]}, "MatrixSolve": {"matrix": [[2, 1], [1, 2]]},
    "CompareAndBitpack": {"input": (2, 8), "threshold": ()}, "NthElement": {"input": (2, 3), "n": 1},
    "Cross": {"a": (2, 3), "b": (2, 3)}, "DynamicPartition": {"partitions": [0, 0]},
    "Empty": {"shape": [2, 2]}, "Fingerprint": {"method": "farmhash64"},
    "InplaceUpdate": {"i": [0, 1]}, "InplaceAdd": {"i": [0, 1]},
    "InplaceSub": {"i": [0, 1]},
    "Fill": {"dims": [2, 2], "value": ()}, "HistogramFixedWidth": {"value_range": [0, 2], "nbins": 3},
    "InTopK": {"predictions": (2, 2), "targets": [0, 1]},
    "InTopKV2": {"predictions": (2, 2), "targets": [0, 1], "k": 1}, "InvertPermutation": {"x": [1, 0]},
    "LinSpace": {"start": (), "stop": (), "num": 3}, "ListDiff": {"x": (2,), "y": (2,)},
    "MatrixBandPart": {"num_lower": 0, "num_upper": 0}, "MatrixSetDiag": {"diagonal": (2,)},
    "PadV2": {"constant_values": ()}, "RandomUniformInt": {"minval": 0, "maxval": 5},
    "StatelessRandomUniformInt": {"minval": 0, "maxval": 5}, "RefSwitch": {"pred": False},
    "ReverseV2": {"axis": [0]}, "Roll": {"shift": 0, "axis": 0},
    "SampleDistortedBoundingBox": {"image_size": [3, 3, 3]},
    "SampleDistortedBoundingBoxV2": {"image_size": [3, 3, 3], "min_object_covered": ()},
    "ScatterNd": {"indices": [[0], [1]]}, "ScatterNdNonAliasingAdd": {"indices": [[0], [1]]},
    "SparseConcat": {"indices": [[0, 0]], "values": (1,), "shapes": [2, 2]},
    "SparseFillEmptyRows": {"indices": [[0, 0]], "values": (1,)},
    "SparseSlice": {"indices": [[0, 0]], "values": (1,), "start": [0, 0], "size": [1, 1]},
    "SparseSplit": {"indices": [[0, 0]], "values": (1,)}, "SparseSoftmaxCrossEntropyWithLogits": {"labels": [0, 1]},
    "SparseToDense": {"output_shape": [3], "sparse_values": ()}, "Split": {"value": (2, 2)},
    "SplitV": {"value": (2, 2), "size_splits": [2]}, "StatelessMultinomial": {"seed": [1, 2]},
    "AddManySparseToTensorsMap": {"sparse_indices": [[0, 0]], "sparse_values": (1,), "sparse_shape": [2, 2]},
    "AddSparseToTensorsMap": {"sparse_indices": [[0, 0]], "sparse_values": (1,), "sparse_shape": [2, 2]},
    "FakeQuantWithMinMaxVars": {"min": (), "max": ()}, "FakeQuantWithMinMaxVarsGradient": {"min": (), "max": ()},
    "FakeQuantWithMinMaxVarsPerChannel": {"min": (2,), "max": (2,)},
    "FakeQuantWithMinMaxVarsPerChannelGradient": {"min": (2,), "max": (2,)},
    "TridiagonalSolve": {"diagonals": [[1, 1, 0], [3, 3, 3], [0, 1, 1]], "rhs": (3, 2)},
    "TridiagonalMatMul": {"superdiag": (1, 3), "maindiag": (1, 3), "subdiag": (1, 3), "rhs": (3, 2)},
    "SpaceToBatchND": {"input": (2, 2), "block_shape": [2], "paddings": [[0, 0]]},
    "BatchToSpaceND": {"input": (2, 2), "block_shape": [2], "crops": [[0, 0]]},
    "SpaceToBatch": {"input": (1, 2, 2, 1), "paddings": [[0, 0], [0, 0]]},
    "BatchToSpace": {"input": (4, 2, 2, 1), "crops": [[0, 0], [0, 0]]},
    "SpaceToDepth": {"input": (1, 2, 2, 1)}, "DepthToSpace": {"input": (1, 2, 2, 4)}, "Bitcast": {"input": (2, 8)},
    "EditDistance": {
        "hypothesis_indices": [[0, 0]], "hypothesis_values": (1,), "hypothesis_shape": [1, 2],
        "truth_indices": [[0, 0]], "truth_values": (1,), "truth_shape": [1, 2],
    },
    **{
        f"Resize{kind}": {"images": (1, 2, 2, 1), "size": [3, 3]}
        for kind in ("Bilinear", "NearestNeighbor", "Bicubic", "Area")
    },
    "ResizeBilinearGrad": {"grads": (1, 3, 3, 1), "original_image": (1, 2, 2, 1)},
    "ResizeBicubicGrad": {"grads": (1, 3, 3, 1), "original_image": (1, 2, 2, 1)},
    "ResizeNearestNeighborGrad": {"grads": (1, 3, 3, 1), "size": [2, 2]},
    "SetSize": {"set_indices": [[0, 0]], "set_values": (1,), "set_shape": [2, 2]},
    "DenseToSparseSetOperation": {"set2_indices": [[0, 0]], "set2_values": (1,), "set2_shape": [2, 2]},
    "SparseToSparseSetOperation": {
        "set1_indices": [[0, 0]], "set1_values": (1,), "set1_shape": [2, 2],
        "set2_indices": [[0, 0]], "set2_values": (1,), "set2_shape": [2, 2],
    },
    **{f"Batch{name}": {"input": [[2, 1], [1, 2]]} for name in ("Cholesky", "MatrixInverse")},
    "BatchMatrixSolve": {"matrix": [[2, 1], [1, 2]]}, "BatchMatrixSetDiag": {"diagonal": (2,)},
    "BatchNormWithGlobalNormalization": {"t": (1, 2, 2, 1)} | dict.fromkeys(("m", "v", "beta", "gamma"), (1,)),
    "BatchNormWithGlobalNormalizationGrad": (
        dict.fromkeys(("t", "backprop"), (1, 2, 2, 1)) | dict.fromkeys(("m", "v", "gamma"), (1,))
    ),
    **{
        f"QuantizeAndDequantize{version}": {"input_min": (), "input_max": (), "num_bits": 8}
        for version in ("V2", "V3")
    },
    "DataFormatVecPermute": {"x": [1, 2, 3, 4]}, "ExtractVolumePatches": {"input": (1, 2, 2, 2, 1)},
    **{
        f"Serialize{many}Sparse": {"sparse_indices": [[0, 0]], "sparse_values": (1,), "sparse_shape": [2, 2]}
        for many in ("", "Many")
    },
    "EncodeWav": {"audio": (2, 1), "sample_rate": ()},
    "EncodePng": {"image": (2, 2, 1)}, "RGBToHSV": {"images": (2, 3)}, "HSVToRGB": {"images": (2, 3)},
    "AdjustContrastv2": {"images": (2, 2, 3), "contrast_factor": ()}, "AdjustHue": {"images": (2, 2, 3), "delta": ()},
    "AdjustSaturation": {"images": (2, 2, 3), "scale": ()},
    "HistogramSummary": {"tag": ()}, "ImageSummary": {"tag": (), "tensor": (1, 2, 2, 1)},
    "StringToNumber": {"string_tensor": "1"},
    "TensorSummaryV2": {"tag": (), "serialized_summary_metadata": ""},
    "DecodeRaw": {"bytes": "a" * 16}, "DecodePaddedRaw": {"input_bytes": "a" * 16, "fixed_length": 16},
    "FusedPadConv2D": {"input": _PIXELS, "filter": (1, 1, 1, 1), "paddings": [[0, 0]] * 4},
    "FusedResizeAndPadConv2D": {
        "input": _PIXELS, "size": [3, 3], "filter": (1, 1, 1, 1), "paddings": [[0, 0]] * 4,
    },
    "MatrixDiagV2": {"k": 0, "num_rows": -1, "num_cols": -1, "padding_value": ()},
    "MatrixDiagPartV2": {"k": 0, "padding_value": ()}, "MatrixSetDiagV2": {"k": 0, "diagonal": (2,)},
    "CholeskyGrad": {"l": [[1, 0], [1, 1]]}, "TensorStridedSliceUpdate": {"value": (1, 1)},
    "StridedSliceAssign": {"value": (1, 1)}, "ResourceStridedSliceAssign": {"value": (1, 1)},
    "StridedSliceGrad": {"dy": (1, 1)}, "Switch": {"pred": True}, "Unique": {"x": (2,)},
    "UniqueV2": {"axis": [0]}, "UniqueWithCounts": {"x": (2,)}, "UniqueWithCountsV2": {"axis": [0]},
    **{
        name: {"indices": [[0], [1]]}
        for kind in ("Update", "Add", "Sub")
        for name in (f"ScatterNd{kind}", f"ResourceScatterNd{kind}", f"TensorScatter{kind}")
    },
}  # fmt: skip
# Ops that move a window over images: of one pixel here, in as many dimensions as the op has.
_SIZE_INPUTS = ("input_sizes", "filter_sizes", "orig_input_shape", "ksize", "strides")
_WINDOW_OPS = {
    "Conv2D": 4, "Conv2DBackpropInput": 4, "Conv2DBackpropFilter": 4, "Conv3D": 5, "Conv3DBackpropInput": 5,
    "Conv3DBackpropFilter": 5, "Conv3DBackpropInputV2": 5, "Conv3DBackpropFilterV2": 5, "DepthwiseConv2dNative": 4,
    "DepthwiseConv2dNativeBackpropInput": 4, "DepthwiseConv2dNativeBackpropFilter": 4, "MaxPool": 4, "MaxPoolV2": 4,
    "MaxPoolGrad": 4, "MaxPoolGradV2": 4, "MaxPoolGradGrad": 4, "MaxPoolGradGradV2": 4, "MaxPoolWithArgmax": 4,
    "MaxPoolGradWithArgmax": 4, "MaxPoolGradGradWithArgmax": 4, "MaxPool3D": 5, "MaxPool3DGrad": 5,
    "MaxPool3DGradGrad": 5, "AvgPool": 4, "AvgPoolGrad": 4, "AvgPool3D": 5, "AvgPool3DGrad": 5,
    "FusedBatchNorm": 4, "FusedBatchNormV2": 4, "FusedBatchNormV3": 4, "FusedBatchNormGrad": 4,
    "FusedBatchNormGradV2": 4, "FusedBatchNormGradV3": 4,
}  # fmt: skip
_WINDOW_VALUES = {"argmax": [[[[0]]]], "mean": [], "variance": []} | dict.fromkeys(
    ("scale", "offset", "reserve_space_1", "reserve_space_2", "reserve_space_3"), (1,)
)
OF_ATTR = {
    "input_encoding": "UTF-8", "output_encoding": "UTF-8", "errors": "replace",
    "variance_epsilon": 0.001, "pooling_ratio": [1.0] * 4, "beam_width": 1, "top_paths": 1,
    "interpolation": "NEAREST", "block_size": 2, "mode": "SYMMETRIC", "padding": "SAME", "ksizes": [1] * 4,
    "strides": [1] * 4, "rates": [1] * 4, "type": tf.uint8, "boundaries": [0.5], "set_operation": "a-b",
}  # fmt: skip
# What takes integers with a range, what needs files, a variable that has a value or is a generator's state, a
# handle or a loop, or is fed, or has several results of which one is there, or wants inputs of known shapes or of
# several types.
LEFT_OUT = set(
    "QuantizeV2 Dequantize QuantizedConcat Requantize RequantizationRange QuantizeDownAndShrinkRange QuantizedConv2D "
    "QuantizedMaxPool QuantizedAvgPool QuantizedRelu QuantizedRelu6 QuantizedReluX QuantizedMatMul QuantizedBiasAdd "
    "QuantizedAdd QuantizedMul QuantizedReshape "
    "AccumulatorApplyGradient ResourceAccumulatorApplyGradient AccumulatorTakeGradient "
    "ResourceAccumulatorTakeGradient SparseAccumulatorApplyGradient SparseAccumulatorTakeGradient "
    "ConditionalAccumulator ResourceConditionalAccumulator SparseConditionalAccumulator CountUpTo DecodeWav "
    "GetSessionTensor "
    "SparseFeatureCross SparseFeatureCrossV2 WriteSummary WriteScalarSummary WriteHistogramSummary WriteImageSummary "
    "SparseCross DecodePng DeserializeSparse DeserializeManySparse Exit ExtractJpegShape ParseTensor RefExit "
    "ResourceCountUpTo "
    "Stage Unstage StagePeek MapStage MapUnstage MapUnstageNoKey MapPeek OrderedMapStage OrderedMapUnstage "
    "OrderedMapUnstageNoKey OrderedMapPeek BarrierInsertMany BarrierTakeMany TensorArrayGradWithShape "
    "StackPop StackPush StackPopV2 StackPushV2 SparseTensorSliceDataset TakeManySparseFromTensorsMap "
    "TensorArrayConcatV3 "
    "TensorArrayGatherV3 TensorArrayReadV3 TensorArrayScatterV3 TensorArraySplitV3 TensorArrayWriteV3 StackV2 Stack "
    "TensorArrayConcat TensorArrayConcatV2 TensorArrayGather TensorArrayGatherV2 TensorArrayPack TensorArrayRead "
    "TensorArrayReadV2 TensorArrayScatter TensorArrayScatterV2 TensorArraySplit TensorArraySplitV2 TensorArrayUnpack "
    "TensorArrayWrite TensorArrayWriteV2 TensorArray TensorArrayV2 "
    "TensorArrayV3 Print PrintV2 Const Placeholder PlaceholderV2 VarHandleOp Variable VariableV2 "
    "TemporaryVariable DestroyTemporaryVariable ZeroInitializer ZeroVarInitializer "
    "Restore RestoreSlice RestoreV2 "
    "Save SaveSlices HashTable HashTableV2 InitializeTable InitializeTableV2 LookupTableImport "
    "LookupTableImportV2 LookupTableFind LookupTableFindV2 LookupTableExport LookupTableExportV2 SaveV2 "
    "StatefulStandardNormalV2 StatefulRandomBinomial StatefulTruncatedNormal StatefulUniform "
    "StatefulUniformFullInt StatefulUniformInt "
    "LookupTableInsert LookupTableInsertV2 LookupTableRemoveV2 MutableHashTable MutableHashTableV2 "
    "MutableHashTableOfTensors MutableHashTableOfTensorsV2 MutableDenseHashTableV2 TensorListConcat "
    "TensorListConcatLists TensorListConcatV2 TensorListGather TensorListGetItem TensorListPopBack "
    "TensorListPushBack TensorListPushBackBatch TensorListScatterIntoExistingList TensorListSetItem "
    "EmptyTensorList TensorListElementShape TensorListReserve TensorListStack TensorListScatter TensorListScatterV2 "
    "TensorListFromTensor TensorListSplit "
    "Switch RefSwitch Merge RefMerge If StatelessIf ParallelConcat RaggedRange RaggedGather "
    "RaggedTensorToSparse RaggedTensorToTensor RaggedTensorToVariant RaggedTensorFromVariant".split()
)


def _shape_of(name):
    if name in _SCALARS:
        return ()
    return (1,) if name in _VECTORS else MATRIX


def _ones(dtype, shape):
    if dtype is tf.string:
        return np.full(shape, b"a", object)
    return np.ones(shape, dtype.as_numpy_dtype)


def _array(given, dtype):
    return np.asarray(given, object) if dtype is tf.string else np.asarray(given).astype(dtype.as_numpy_dtype)


def _sample(op_type, arg, dtype, is_tried):
    given = OF_OP.get(op_type, {}).get(arg.name)
    if op_type in _WINDOW_OPS:
        ones = [1] * _WINDOW_OPS[op_type]
        given = ones if arg.name in _SIZE_INPUTS else _WINDOW_VALUES.get(arg.name, tuple(ones))
    if given is None and not is_tried:
        given = SAMPLES.get(arg.name)
    if given is None:
        given = _shape_of(arg.name)
    return _ones(dtype, given) if isinstance(given, tuple) else _array(given, dtype)


class Trial:
    """One op with one type, that of `type_attr`.

    `others` are the types of other attributes. References and handles are those of variables of type
    `variable_dtype`, by default the same.
    """

    def __init__(self, op_def, type_attr, dtype, others=None, variable_dtype=None):
        self.op_def, self.type_attr, self.dtype = op_def, type_attr, dtype
        # What belongs to the type, such as a bound for its numbers.
        self.others = {"Treal": dtype} if others is None else others
        self.variable_dtype = variable_dtype or dtype
        self.feeds: dict = {}
        self.initializers: list = []

    def _type_of(self, arg):
        if arg.dtype is not None:
            return arg.dtype
        if arg.type_attr == self.type_attr:
            return self.dtype
        if arg.type_attr in self.others:
            return self.others[arg.type_attr]
        attr = self.op_def.attrs[arg.type_attr]
        return attr.default if attr.has_default else (attr.allowed or [tf.int32])[0]

    def _input(self, arg):
        dtype = self._type_of(arg)
        if dtype is tf.resource or arg.is_ref:
            value = tf.constant(_ones(self.variable_dtype, _shape_of(arg.name)))
            variable = tf.Variable(value, use_resource=dtype is tf.resource, validate_shape=not arg.is_ref)
            self.initializers.append(variable.initializer)
            return variable.handle if dtype is tf.resource else variable._ref()
        placeholder = tf.placeholder(dtype)
        self.feeds[placeholder] = _sample(self.op_def.name, arg, dtype, arg.type_attr == self.type_attr)
        return placeholder

    def _attr(self, attr):
        if attr.name == self.type_attr:
            return self.dtype
        if attr.name in self.others:
            return self.others[attr.name]
        if self.op_def.name in _WINDOW_OPS and attr.name in ("ksize", "strides", "dilations"):
            return [1] * _WINDOW_OPS[self.op_def.name]
        if self.op_def.name == "ExtractVolumePatches" and attr.name in ("ksizes", "strides"):
            return [1] * 5
        if attr.name in ("data_format", "explicit_paddings"):
            return attr.default
        if attr.name in OF_ATTR:
            return OF_ATTR[attr.name]
        if self.op_def.name == "Einsum" and attr.name == "equation":
            return "ab,bc->ac"
        values = {"int": 1, "float": 1.0, "bool": True, "type": tf.float32, "shape": MATRIX, "string": "a"}
        return [values[attr.kind[5:-1]]] if attr.kind.startswith("list(") else values[attr.kind]

    def run(self):
        """Raises what building or running the op raises."""
        inferred = {
            getattr(arg, key) for arg in self.op_def.inputs for key in ("type_attr", "number_attr", "type_list_attr")
        }
        arguments = {}
        for arg in self.op_def.inputs:
            if arg.type_list_attr is not None:
                arguments[arg.name] = [tf.constant(1)]
            else:
                arguments[arg.name] = [self._input(arg), self._input(arg)] if arg.is_list else self._input(arg)
        for attr in self.op_def.attrs.values():
            if attr.name not in inferred and (
                not attr.has_default or attr.name == self.type_attr or attr.name in self.others
            ):
                arguments[attr.name] = self._attr(attr)
        with tf.Session() as session:
            outputs = build.apply(self.op_def, None, arguments)
            session.run(self.initializers)
            session.run(list(outputs) if hasattr(outputs, "_fields") else outputs, self.feeds)


def _type_attr(op_def):
    """The attribute that says what an op computes with."""
    found = [attr for attr in op_def.attrs.values() if attr.kind == "type"]
    found.sort(key=lambda attr: (attr.name in _INDEX_TYPES, attr.name not in ("dtype", "Tout")))
    return found[0] if found else None


def types_of(op_type):
    """The names of the types that an op's kernel takes: a list, or None if trials do not tell.

    An empty list is that of an op without a type of its own.
    """
    op_def = op_defs.find(op_type)
    attr = _type_attr(op_def)
    if attr is None or op_type in LEFT_OUT:
        return []
    found = []
    for name in TYPES:
        dtype = tf.as_dtype(name)
        if attr.allowed is not None and dtype not in attr.allowed:
            continue
        try:
            with tf.Graph().as_default():
                Trial(op_def, attr.name, dtype).run()
            found.append(name)
        except (OpError, TypeError, ValueError, KeyError, NotImplementedError) as error:
            is_said = isinstance(error, UnimplementedError) or "No OpKernel was registered" in str(error)
            if not is_said and not dtype.is_complex:
                return None
    return found


def main():
    """Prints which ops trials tell nothing about."""
    for op_type in ops.all_op_types():
        if types_of(op_type) is None:
            print(op_type)


if __name__ == "__main__":
    main()
