"""Attributes of nodes: each is read by the op's kernel or rules, refused, or without effect for a reason."""

import numpy as np
import pytest

import stillflow as tf
from stillflow import ops
from stillflow.graph import op_def as op_defs
from stillflow.ops.registry import Called, Elementwise, Kernel

# Attributes that no kernel takes, by what becomes of them.
NOT_FOR_KERNELS = {
    "the plan looks at it": {
        "Cast": "Truncate",
        "Const": "value",
        "Enter": "frame_name is_constant",
        "RefEnter": "frame_name is_constant",
        "VarHandleOp": "container shared_name dtype shape",
        "Variable": "container shared_name shape",
        "VariableV2": "container shared_name shape",
        "*": "seed seed2",
    },
    "the rule for shapes and the check of fed values look at it": {
        "AccumulateNV2": "shape",
        "ParallelConcat": "shape",
        "Placeholder": "shape",
        "PlaceholderV2": "shape",
        "PlaceholderWithDefault": "shape",
        "If": "output_shapes",
        "Case": "output_shapes",
        "While": "output_shapes",
        "StatelessIf": "output_shapes",
        "StatelessWhile": "output_shapes",
    },
    "the other ops that it is written out in get it": {
        "FusedPadConv2D": "mode strides padding",
        "FusedResizeAndPadConv2D": "resize_align_corners mode strides padding",
    },
    "the gradient looks at it": {"PreventGradient": "message"},
    "updates are never torn": {"*": "use_locking"},
    "says how fast, not what: TensorFlow's results are the same or any of several": {
        "Enter": "parallel_iterations",
        "RefEnter": "parallel_iterations",
        "While": "parallel_iterations",
        "StatelessWhile": "parallel_iterations",
        "BatchDatasetV2": "parallel_copy",
        "PaddedBatchDatasetV2": "parallel_copy",
        "MapDataset": "use_inter_op_parallelism",
        "ParallelMapDataset": "use_inter_op_parallelism sloppy",
        "ParallelInterleaveDatasetV2": "sloppy",
        "ReduceDataset": "use_inter_op_parallelism",
        "MapDefun": "max_intra_op_parallelism",
        "ThreadPoolHandle": "max_intra_op_parallelism display_name",
        "ThreadPoolDataset": "output_types output_shapes",
        "PrivateThreadPoolDataset": "output_types output_shapes",
        "MaxIntraOpParallelismDataset": "output_types output_shapes",
        "ModelDataset": "algorithm cpu_budget",
        "PrefetchDataset": "slack_period legacy_autotune",
        "ChooseFastestDataset": "num_experiments",
        "LoadAndRemapMatrix": "max_rows_in_memory",
        "RecordInput": "file_parallelism",
        "SparseMatMul": "a_is_sparse b_is_sparse",
        "StackPush": "swap_memory",
        "StackPushV2": "swap_memory",
        "PartitionedCall": "config config_proto executor_type",
        "StatefulPartitionedCall": "config config_proto executor_type",
        "TopK": "sorted",
        "TopKV2": "sorted",
        "Conv2D": "use_cudnn_on_gpu",
        "Conv2DBackpropFilter": "use_cudnn_on_gpu",
        "Conv2DBackpropInput": "use_cudnn_on_gpu",
        "EagerPyFunc": "is_async",
        "Restore": "preferred_shard",
        "RestoreSlice": "preferred_shard",
        "RebatchDataset": "use_fallback",
    },
    "TensorFlow's kernel on CPUs does not look at it either": {
        "DepthwiseConv2dNative": "dilations",
        "DepthwiseConv2dNativeBackpropFilter": "dilations",
        "DepthwiseConv2dNativeBackpropInput": "dilations",
        "Gather": "validate_indices",
        "ResourceGather": "validate_indices",
        "BarrierTakeMany": "wait_for_incomplete",
        "BoostedTreesCalculateBestGainsPerFeature": "max_splits",
        "CenterTreeEnsembleBias": "learner_config",
        "CreateQuantileAccumulator": "container shared_name",
        "SdcaOptimizer": "num_inner_iterations",
        "SdcaOptimizerV2": "num_inner_iterations",
        "QuantizedMatMul": "Tactivation",
        "StackV2": "stack_name",
        "TensorSummary": "description display_name labels",
    },
    "a value that could be told apart is never seen": {
        "Empty": "init",
        "SetSize": "validate_indices",
        "DenseToDenseSetOperation": "validate_indices",
        "DenseToSparseSetOperation": "validate_indices",
        "SparseToSparseSetOperation": "validate_indices",
        "HashTable": "use_node_name_sharing",
        "HashTableV2": "use_node_name_sharing",
        "MutableDenseHashTableV2": "use_node_name_sharing",
        "MutableHashTable": "use_node_name_sharing",
        "MutableHashTableV2": "use_node_name_sharing",
        "MutableHashTableOfTensors": "use_node_name_sharing",
        "MutableHashTableOfTensorsV2": "use_node_name_sharing",
    },
    "one value is allowed, or others follow from it": {
        "CropAndResizeGradBoxes": "method",
        "BoostedTreesSparseCalculateBestFeatureSplit": "split_type logits_dimension",
        "FertileStatsSerialize": "params",
        "TraverseTreeV4": "params",
        "ParseSequenceExample": "Ncontext_dense",
        "SparseCross": "hashed_output internal_type",
        "SparseFeatureCross": "hashed_output internal_type",
        "SparseFeatureCrossV2": "hashed_output internal_type",
    },
}


def listed(op_type):
    """The attributes of an op that are in the table, under its name or its newer one."""
    found = set()
    for by_op in NOT_FOR_KERNELS.values():
        found.update(by_op.get(op_type.removeprefix("Experimental"), "").split(), by_op.get("*", "").split())
    return found


def taken(op_def):
    """The attributes that the op's kernel takes, or that are types and numbers of its inputs and outputs."""
    lowering = op_def.lowering
    found = set()
    if isinstance(lowering, Elementwise):
        found.update(lowering.attrs)
        lowering = lowering.otherwise
    if isinstance(lowering, Kernel):
        found.update(attr.name if isinstance(attr, Called) else attr for attr in lowering.attrs)
    for arg in (*op_def.inputs, *op_def.outputs):
        found.update((arg.type_attr, arg.type_list_attr, arg.number_attr))
    return found


def test_attributes_are_taken_by_kernels_or_listed_with_a_reason():
    unread = {}
    for op_type in ops.all_op_types():
        op_def = op_defs.find(op_type)
        left = set(op_def.attrs) - taken(op_def) - listed(op_type)
        if left:
            unread[op_type] = sorted(left)
    assert unread == {}


def test_the_list_names_nothing_else():
    for by_op in NOT_FOR_KERNELS.values():
        for op_type, names in by_op.items():
            if op_type != "*":
                op_def = op_defs.find(op_type)
                assert set(names.split()) <= set(op_def.attrs) - (taken(op_def) - {"Truncate", "message"}), op_type


# ---- Values that were once ignored -------------------------------------------------------------------------


def import_node(op_type, inputs, **attrs):
    """A node of an imported graph, whose inputs are tensors of this one; attributes as text of their AttrValue."""
    from google.protobuf import text_format

    graph_def = tf.GraphDef()
    node = graph_def.node.add(name="n", op=op_type)
    places = {}
    for i, tensor in enumerate(inputs):
        graph_def.node.add(name=f"in{i}", op="Placeholder").attr[
            "dtype"
        ].type = tensor.dtype.base_dtype.as_datatype_enum
        node.input.append(f"in{i}")
        places[f"in{i}"] = tensor
    for name, text in attrs.items():
        text_format.Parse(text, node.attr[name])
    (operation,) = tf.import_graph_def(graph_def, places, return_elements=["n"])
    return operation


def run(fetches):
    with tf.Session() as session:
        return session.run(fetches)


# From TensorFlow 1.15.5.
TRUNCATED = {
    ("DT_FLOAT", "DT_HALF"): [1.0, 1.0, -1.0, 3.140625, 65504.0, 0.0],
    ("DT_DOUBLE", "DT_HALF"): [1.0, 1.0, -1.0, 3.140625, 65504.0, 0.0],
    ("DT_FLOAT", "DT_BFLOAT16"): [1.0, 1.0, -1.0, 3.140625, 65280.0, 9.953510016202927e-09],
    ("DT_DOUBLE", "DT_BFLOAT16"): [1.0, 1.0, -1.0, 3.140625, 65536.0, 1.0011717677116394e-08],
}


@pytest.mark.parametrize(("source", "target"), TRUNCATED)
@pytest.mark.parametrize("is_folded", [True, False])
def test_casts_truncate_if_asked(source, target, is_folded):
    values = np.array([1.00048, 1.0009, -1.00048, 3.14159, 65519.0, 1e-8], np.float32)
    x = tf.constant(values if source == "DT_FLOAT" else values.astype(np.float64))
    x = x if is_folded else tf.placeholder_with_default(x, [6])
    cast = import_node("Cast", [x], SrcT=f"type: {source}", DstT=f"type: {target}", Truncate="b: true")
    assert run(tf.cast(cast.outputs[0], tf.float64)).tolist() == TRUNCATED[source, target]


def test_truncation_keeps_what_has_no_mantissa():
    x = tf.placeholder_with_default(np.array([np.nan, np.inf, -np.inf, 3.5e38, 0.0]), [5])
    cast = import_node("Cast", [x], SrcT="type: DT_DOUBLE", DstT="type: DT_FLOAT", Truncate="b: true")
    np.testing.assert_array_equal(run(cast.outputs[0]), np.array([np.nan, np.inf, -np.inf, np.inf, 0], np.float32))


def test_casts_of_complex_numbers_truncate_both_parts():
    x = tf.placeholder_with_default(np.array([1.0000001 - 1.0000001j]), [1])
    cast = import_node("Cast", [x], SrcT="type: DT_COMPLEX128", DstT="type: DT_COMPLEX64", Truncate="b: true")
    assert run(cast.outputs[0]).tolist() == [1 - 1j]
    cast = import_node("Cast", [x], SrcT="type: DT_COMPLEX128", DstT="type: DT_HALF", Truncate="b: true")
    assert run(cast.outputs[0]).tolist() == [1]


@pytest.mark.parametrize(("quantized", "plain"), [("quint8", "int32"), ("qint8", "int8"), ("qint32", "float32")])
def test_quantized_numbers_are_cast_as_what_they_are_stored_as(quantized, plain):
    x = tf.placeholder_with_default(tf.constant([3, 250], tf.float32), [2])
    there = tf.cast(x, quantized)
    expected = np.array([3, 250]).astype(tf.as_dtype(quantized).as_numpy_dtype).astype(plain)
    assert run(tf.cast(there, plain)).tolist() == expected.tolist()


def barrier(**attrs):
    shapes = "list { shape { } }"
    return import_node("Barrier", [], component_types="list { type: DT_FLOAT }", shapes=shapes, **attrs)


def test_barriers_refuse_a_capacity():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Barrier only accepts capacity=-1"):
        run(barrier(capacity="i: 2").outputs[0])


def test_barriers_refuse_timeouts():
    types = "list { type: DT_FLOAT }"
    take = import_node(
        "BarrierTakeMany", [barrier().outputs[0], tf.constant(1)], component_types=types, timeout_ms="i: 10"
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="Timeout not supported yet"):
        run(take.outputs[0])


def test_rows_that_nobody_writes_are_refused():
    row = tf.constant([[1.0, 2.0]])
    shape = "shape { dim { size: 3 } dim { size: 2 } }"
    with pytest.raises(ValueError, match="shape attr says 3 rows, but there are 2 inputs"):
        import_node("ParallelConcat", [row, row], N="i: 2", T="type: DT_FLOAT", shape=shape)


def test_what_is_not_allowed_is_named_beside_what_is():
    text = """Value for attr 'method' of "nearest" is not in the list of allowed values: "bilinear"; NodeDef"""
    inputs = [tf.ones([1, 2, 2, 1]), tf.ones([1, 4, 4, 1]), tf.constant([[0.0, 0, 1, 1]]), tf.constant([0])]
    with pytest.raises(ValueError, match=text):
        import_node("CropAndResizeGradBoxes", inputs, T="type: DT_FLOAT", method='s: "nearest"')
    with pytest.raises(ValueError, match="Value for attr 'Tindices' of float is not in .* values: int32, int64"):
        import_node("Gather", inputs[:2], Tparams="type: DT_FLOAT", Tindices="type: DT_FLOAT")


def test_a_table_without_values_has_no_size():
    table = import_node("HashTableV2", [], key_dtype="type: DT_STRING", value_dtype="type: DT_INT64")
    assert run(tf.raw_ops.LookupTableSizeV2(table_handle=table.outputs[0])) == 0
