"""What nodes mean: each op's signature, shape rule and gradient, and the functions that build nodes.

A module is imported when one of its ops or builders is first asked for, here (`ops.matmul`) or by the type of
a node in an imported graph; so hundreds of ops cost nothing at start. The table of contents says which module
offers what: op types first, then builders.
"""

from __future__ import annotations

import importlib

from stillflow.graph import op_def as _op_def

_CONTENTS = {
    "array.constant": ("Const", "constant contains_tensor pack_nested"),
    "array.fill": ("Fill ZerosLike OnesLike", "fill zeros ones zeros_like ones_like"),
    "array.identity": (
        "Identity IdentityN RefIdentity Snapshot StopGradient PreventGradient GuaranteeConst NoOp",
        "identity identity_n ref_identity snapshot stop_gradient prevent_gradient guarantee_const no_op",
    ),
    "array.placeholder": ("Placeholder PlaceholderWithDefault", "placeholder placeholder_with_default"),
    "random.candidate_sampler": (
        "LogUniformCandidateSampler UniformCandidateSampler LearnedUnigramCandidateSampler "
        "ThreadUnsafeUnigramCandidateSampler FixedUnigramCandidateSampler AllCandidateSampler ComputeAccidentalHits",
        "log_uniform_candidate_sampler uniform_candidate_sampler learned_unigram_candidate_sampler "
        "thread_unsafe_unigram_candidate_sampler fixed_unigram_candidate_sampler all_candidate_sampler "
        "compute_accidental_hits",
    ),
    "random.fill": (
        "RandomUniform RandomUniformInt RandomStandardNormal TruncatedNormal",
        "random_uniform random_uniform_int random_standard_normal truncated_normal",
    ),
    "state.py_func": ("PyFunc PyFuncStateless", "py_func py_func_stateless"),
    "functions.partitioned_call": (
        "PartitionedCall StatefulPartitionedCall",
        "partitioned_call stateful_partitioned_call",
    ),
    "functions.control_flow": (
        "If StatelessIf While StatelessWhile",
        "if_op stateless_if while_op stateless_while",
    ),
    "random.shuffle": ("RandomShuffle", "random_shuffle"),
    "random.multinomial": ("Multinomial StatelessMultinomial", "multinomial_op stateless_multinomial_op"),
    "random.gamma": (
        "RandomGamma RandomGammaGrad RandomPoisson RandomPoissonV2 ParameterizedTruncatedNormal",
        "random_gamma_op random_gamma_grad random_poisson_op random_poisson_v2 parameterized_truncated_normal_op",
    ),
    "random.generator": (
        "StatefulUniform StatefulStandardNormalV2 StatefulTruncatedNormal StatefulUniformFullInt StatefulUniformInt "
        "RngSkip NonDeterministicInts",
        "stateful_uniform stateful_standard_normal_v2 stateful_truncated_normal stateful_uniform_full_int "
        "stateful_uniform_int rng_skip non_deterministic_ints",
    ),
    "random.stateless": (
        "StatelessRandomUniform StatelessRandomNormal StatelessTruncatedNormal StatelessRandomUniformInt",
        "stateless_random_uniform_op stateless_random_normal_op stateless_truncated_normal_op "
        "stateless_random_uniform_int",
    ),
    "state.variable": (
        "VariableV2 Variable Assign AssignAdd AssignSub CountUpTo IsVariableInitialized",
        "variable_v2 assign assign_add assign_sub count_up_to is_variable_initialized",
    ),
    "state.resource": (
        "VarHandleOp VarIsInitializedOp VariableShape ReadVariableOp AssignVariableOp AssignAddVariableOp "
        "AssignSubVariableOp ResourceCountUpTo ResourceGather ResourceGatherNd ResourceScatterUpdate "
        "ResourceScatterAdd ResourceScatterSub ResourceScatterMul ResourceScatterDiv ResourceScatterMin "
        "ResourceScatterMax ResourceScatterNdUpdate ResourceScatterNdAdd ResourceScatterNdSub",
        "var_handle_op var_is_initialized_op variable_shape_op read_variable_op assign_variable_op "
        "assign_add_variable_op assign_sub_variable_op resource_count_up_to resource_gather resource_gather_nd "
        "resource_scatter_update resource_scatter_add "
        "resource_scatter_sub resource_scatter_mul resource_scatter_div resource_scatter_min resource_scatter_max "
        "resource_scatter_nd_update resource_scatter_nd_add resource_scatter_nd_sub variable_shape",
    ),
    "state.accumulator": (
        "ConditionalAccumulator ResourceConditionalAccumulator SparseConditionalAccumulator "
        "AccumulatorApplyGradient ResourceAccumulatorApplyGradient AccumulatorTakeGradient "
        "ResourceAccumulatorTakeGradient AccumulatorNumAccumulated ResourceAccumulatorNumAccumulated "
        "AccumulatorSetGlobalStep ResourceAccumulatorSetGlobalStep SparseAccumulatorApplyGradient "
        "SparseAccumulatorTakeGradient",
        "conditional_accumulator resource_conditional_accumulator sparse_conditional_accumulator "
        "accumulator_apply_gradient resource_accumulator_apply_gradient accumulator_take_gradient "
        "resource_accumulator_take_gradient accumulator_num_accumulated resource_accumulator_num_accumulated "
        "accumulator_set_global_step resource_accumulator_set_global_step sparse_accumulator_apply_gradient "
        "sparse_accumulator_take_gradient",
    ),
    "state.lookup_table": (
        "HashTable HashTableV2 InitializeTable InitializeTableV2 InitializeTableFromTextFile "
        "InitializeTableFromTextFileV2 LookupTableImport LookupTableImportV2 LookupTableFind LookupTableFindV2 "
        "LookupTableSize LookupTableSizeV2 LookupTableExport LookupTableExportV2",
        "hash_table hash_table_v2 initialize_table initialize_table_v2 initialize_table_from_text_file "
        "initialize_table_from_text_file_v2 lookup_table_import lookup_table_import_v2 lookup_table_find "
        "lookup_table_find_v2 lookup_table_size lookup_table_size_v2 lookup_table_export lookup_table_export_v2",
    ),
    "state.checkpoint": (
        "SaveV2 RestoreV2 MergeV2Checkpoints ShardedFilename ShardedFilespec Save SaveSlices Restore RestoreSlice",
        "save_v2 restore_v2 merge_v2_checkpoints sharded_filename sharded_filespec save save_slices restore "
        "restore_slice",
    ),
    "strings.join": ("StringJoin", "string_join"),
    "math.elementwise_unary": (
        "Neg Abs Sign Square Sqrt Rsqrt Reciprocal Inv Exp Expm1 Log Log1p Sigmoid Tanh Sinh Cosh Asinh Acosh Atanh "
        "Sin Cos Tan Asin Acos Atan Erf Erfc Lgamma Digamma Floor Ceil Round Rint IsNan IsInf IsFinite "
        "ReciprocalGrad InvGrad SqrtGrad RsqrtGrad TanhGrad SigmoidGrad",
        "neg negative abs sign square sqrt rsqrt reciprocal inv exp expm1 log log1p sigmoid tanh sinh cosh asinh "
        "acosh atanh sin cos tan asin acos atan erf erfc lgamma digamma floor ceil round rint is_nan is_inf "
        "is_finite reciprocal_grad inv_grad sqrt_grad rsqrt_grad tanh_grad sigmoid_grad log_sigmoid",
    ),
    "state.scatter": (
        "ScatterUpdate ScatterAdd ScatterSub ScatterMul ScatterDiv ScatterMin ScatterMax ScatterNdUpdate "
        "ScatterNdAdd ScatterNdSub",
        "scatter_update scatter_add scatter_sub scatter_mul scatter_div scatter_min scatter_max scatter_nd_update "
        "scatter_nd_add scatter_nd_sub",
    ),
    "math.elementwise_binary": (
        "Add AddV2 Sub Mul Div RealDiv TruncateDiv FloorDiv Mod FloorMod TruncateMod DivNoNan MulNoNan Maximum "
        "Minimum SquaredDifference Pow Xdivy Xlogy Atan2",
        "add add_v2 sub mul real_div truncate_div floor_div floor_mod truncate_mod div_no_nan_op mul_no_nan "
        "maximum minimum squared_difference pow xdivy xlogy atan2 broadcast repeated_axes scalar_mul",
    ),
    "math.special": (
        "Zeta Polygamma Igamma Igammac IgammaGradA Betainc BesselI0e BesselI1e",
        "zeta polygamma igamma igammac igamma_grad_a betainc bessel_i0e bessel_i1e",
    ),
    "math.division": (
        "",
        "truediv quotient_operands div floordiv divide div_no_nan multiply_no_nan reciprocal_no_nan",
    ),
    "math.comparison": (
        "Equal NotEqual Less LessEqual Greater GreaterEqual ApproximateEqual LogicalAnd LogicalOr LogicalNot Select "
        "SelectV2",
        "equal not_equal less less_equal greater greater_equal approximate_equal logical_and logical_or logical_not "
        "logical_xor select select_v2 where where_v2",
    ),
    "math.bitwise": (
        "BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift Invert PopulationCount",
        "bitwise_and bitwise_or bitwise_xor left_shift right_shift invert population_count",
    ),
    "math.cast": ("Cast", "cast cast_op saturate_cast"),
    "math.add_n": ("AddN AccumulateNV2", "add_n accumulate_n"),
    "math.matmul": (
        "MatMul SparseMatMul BatchMatMul BatchMatMulV2",
        "mat_mul sparse_mat_mul batch_mat_mul batch_mat_mul_v2 matmul matvec",
    ),
    "math.reduction": (
        "Sum Mean Prod Max Min EuclideanNorm All Any",
        "reduce_sum reduce_mean reduce_prod reduce_max reduce_min reduce_euclidean_norm reduce_all reduce_any "
        "prod_op max_op reduced_shape reduction_axes",
    ),
    "math.arg_extremum": ("ArgMax ArgMin", "argmax argmin arg_max arg_min"),
    "math.cumulative": ("Cumsum Cumprod", "cumsum cumprod"),
    "nn.activation": (
        "Relu Relu6 Elu Selu LeakyRelu Softplus Softsign ReluGrad Relu6Grad EluGrad SeluGrad LeakyReluGrad "
        "SoftplusGrad SoftsignGrad",
        "relu relu6 elu selu leaky_relu softplus softsign crelu relu_grad relu6_grad elu_grad selu_grad "
        "leaky_relu_grad softplus_grad softsign_grad",
    ),
    "nn.l2_loss": ("L2Loss", "l2_loss"),
    "nn.softmax": ("Softmax LogSoftmax", "softmax log_softmax softmax_op log_softmax_op"),
    "nn.softmax_cross_entropy": (
        "SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits",
        "softmax_cross_entropy_op sparse_softmax_cross_entropy_op",
    ),
    "nn.bias_add": (
        "BiasAdd BiasAddV1 BiasAddGrad",
        "bias_add bias_add_v1 bias_add_op bias_add_v1_op bias_add_grad",
    ),
    "nn.top_k": ("TopK TopKV2 InTopK InTopKV2", "top_k in_top_k top_k_op top_k_v2 in_top_k_op in_top_k_v2"),
    "array.concat": ("ConcatV2 Concat", "concat concat_v2 concat_op"),
    "array.dynamic": (
        "DynamicStitch ParallelDynamicStitch DynamicPartition",
        "dynamic_stitch parallel_dynamic_stitch dynamic_partition",
    ),
    "array.unique": (
        "Unique UniqueWithCounts UniqueV2 UniqueWithCountsV2 ListDiff",
        "unique unique_with_counts unique_v2 unique_with_counts_v2 list_diff setdiff1d",
    ),
    "array.meshgrid": ("", "meshgrid"),
    "array.where": ("Where", "where_op boolean_mask"),
    "array.reverse": (
        "Reverse ReverseV2 ReverseSequence Roll",
        "reverse_op reverse_v2 reverse_sequence_op reverse_sequence roll",
    ),
    "array.diagonal": (
        "Diag DiagPart MatrixDiag MatrixDiagPart MatrixSetDiag MatrixBandPart",
        "diag diag_part matrix_diag matrix_diag_part matrix_set_diag matrix_band_part trace eye",
    ),
    "array.search": (
        "LowerBound UpperBound Bincount HistogramFixedWidth UnravelIndex",
        "lower_bound upper_bound bincount_op histogram_fixed_width_op unravel_index searchsorted bincount "
        "histogram_fixed_width",
    ),
    "strings.print": (
        "Assert Print PrintV2 StringFormat",
        "assert_op print_op print_v2 string_format string_format_op",
    ),
    "array.check": ("CheckNumerics EnsureShape", "check_numerics ensure_shape_op ensure_shape"),
    "math.cross": ("Cross", "cross"),
    "math.factors": (
        "Cholesky Lu MatrixInverse MatrixSolve MatrixDeterminant LogMatrixDeterminant SelfAdjointEigV2 Svd "
        "MatrixSolveLs",
        "cholesky lu matrix_inverse matrix_solve matrix_determinant log_matrix_determinant self_adjoint_eig_v2 svd "
        "svd_op matrix_solve_ls matrix_solve_ls_op cholesky_solve self_adjoint_eigvals logdet adjoint",
    ),
    "math.tridiagonal": ("TridiagonalSolve TridiagonalMatMul", "tridiagonal_solve tridiagonal_mat_mul"),
    "math.qr": ("Qr MatrixTriangularSolve", "qr_op matrix_triangular_solve"),
    "math.sparse_segment": (
        "SparseSegmentSum SparseSegmentMean SparseSegmentSqrtN SparseSegmentSumWithNumSegments "
        "SparseSegmentMeanWithNumSegments SparseSegmentSqrtNWithNumSegments SparseSegmentMeanGrad "
        "SparseSegmentSqrtNGrad",
        "sparse_segment_sum sparse_segment_mean sparse_segment_sqrt_n sparse_segment_sum_with_num_segments "
        "sparse_segment_mean_with_num_segments sparse_segment_sqrt_n_with_num_segments sparse_segment_mean_grad "
        "sparse_segment_sqrt_n_grad",
    ),
    "math.segment": (
        "SegmentSum SegmentMean SegmentProd SegmentMin SegmentMax UnsortedSegmentSum UnsortedSegmentProd "
        "UnsortedSegmentMin UnsortedSegmentMax",
        "segment_sum segment_mean segment_prod segment_min segment_max unsorted_segment_sum unsorted_segment_prod "
        "unsorted_segment_min unsorted_segment_max unsorted_segment_mean unsorted_segment_sqrt_n",
    ),
    "array.gather": (
        "Gather GatherV2 GatherNd",
        "gather gather_op gather_v2 gather_nd gather_nd_op batch_gather batch_gather_nd",
    ),
    "array.one_hot": ("OneHot", "one_hot sequence_mask"),
    "array.pack": (
        "Pack Unpack ParallelConcat",
        "pack unpack parallel_concat stack unstack parallel_stack static_value",
    ),
    "array.pad": ("Pad PadV2 MirrorPad MirrorPadGrad", "pad pad_v2 mirror_pad mirror_pad_grad"),
    "control_flow.branch": (
        "Switch RefSwitch Merge RefMerge ControlTrigger",
        "switch_op ref_switch merge_op ref_merge control_trigger switch merge zeros_like_output "
        "as_indexed_slices as_indexed_slices_list",
    ),
    "control_flow.loop": (
        "Enter RefEnter Exit RefExit NextIteration RefNextIteration LoopCond",
        "enter_op ref_enter exit_op ref_exit next_iteration_op ref_next_iteration loop_cond enter exit_loop "
        "next_iteration close_round apply_shape_invariants",
    ),
    "control_flow.stack": (
        "StackV2 StackPushV2 StackPopV2 StackCloseV2",
        "stack_v2 stack_push_v2 stack_pop_v2 stack_close_v2",
    ),
    "control_flow.tensor_array": (
        "TensorArrayV3 TensorArrayGradV3 TensorArrayWriteV3 TensorArrayReadV3 TensorArrayGatherV3 "
        "TensorArrayScatterV3 TensorArrayConcatV3 TensorArraySplitV3 TensorArraySizeV3 TensorArrayCloseV3",
        "tensor_array_v3 tensor_array_grad_v3 tensor_array_write_v3 tensor_array_read_v3 tensor_array_gather_v3 "
        "tensor_array_scatter_v3 tensor_array_concat_v3 tensor_array_split_v3 tensor_array_size_v3 "
        "tensor_array_close_v3",
    ),
    "array.space_blocks": (
        "SpaceToBatch BatchToSpace SpaceToBatchND BatchToSpaceND SpaceToDepth DepthToSpace",
        "space_to_batch batch_to_space space_to_batch_op batch_to_space_op space_to_batch_nd batch_to_space_nd "
        "space_to_depth depth_to_space",
    ),
    "array.fake_quant": (
        "FakeQuantWithMinMaxArgs FakeQuantWithMinMaxArgsGradient FakeQuantWithMinMaxVars "
        "FakeQuantWithMinMaxVarsGradient FakeQuantWithMinMaxVarsPerChannel FakeQuantWithMinMaxVarsPerChannelGradient",
        "fake_quant_args fake_quant_args_gradient fake_quant_vars fake_quant_vars_gradient fake_quant_channels "
        "fake_quant_channels_gradient",
    ),
    "array.bitcast": ("Bitcast", "bitcast"),
    "array.range": ("Range LinSpace", "range range_op lin_space all_dimensions"),
    "array.reshape": ("Reshape ExpandDims Squeeze", "reshape expand_dims squeeze"),
    "array.shape": (
        "Shape ShapeN Size Rank BroadcastGradientArgs ConcatOffset",
        "shape shape_n size rank shape_op size_op rank_op broadcast_gradient_args concat_offset",
    ),
    "array.scatter_nd": (
        "ScatterNd ScatterNdNonAliasingAdd TensorScatterUpdate TensorScatterAdd TensorScatterSub",
        "scatter_nd scatter_nd_non_aliasing_add tensor_scatter_update tensor_scatter_add tensor_scatter_sub",
    ),
    "array.slice": ("Slice", "slice"),
    "array.sparse_to_dense": ("SparseToDense", "sparse_to_dense sparse_to_dense_op"),
    "image.patches": ("ExtractImagePatches", "extract_image_patches"),
    "image.color": (
        "RGBToHSV HSVToRGB AdjustContrastv2 AdjustHue AdjustSaturation",
        "rgb_to_hsv hsv_to_rgb adjust_contrast_v2 adjust_hue_op adjust_saturation_op",
    ),
    "image.resize": (
        "ResizeBilinear ResizeBilinearGrad ResizeNearestNeighbor ResizeNearestNeighborGrad ResizeBicubic "
        "ResizeBicubicGrad ResizeArea",
        "resize_bilinear resize_bilinear_grad resize_nearest_neighbor resize_nearest_neighbor_grad resize_bicubic "
        "resize_bicubic_grad resize_area",
    ),
    "image.bounding_box": (
        "SampleDistortedBoundingBox SampleDistortedBoundingBoxV2",
        "sample_distorted_bounding_box sample_distorted_bounding_box_v2",
    ),
    "sparse.order": (
        "SparseReorder SparseReshape SparseConcat SparseSlice SparseSliceGrad SparseSplit",
        "sparse_reorder sparse_reshape sparse_concat sparse_slice sparse_split sparse_reorder_op sparse_reshape_op "
        "sparse_concat_op sparse_slice_op sparse_slice_grad sparse_split_op",
    ),
    "sparse.arithmetic": (
        "SparseAdd SparseAddGrad SparseTensorDenseAdd SparseDenseCwiseAdd SparseDenseCwiseMul SparseDenseCwiseDiv "
        "SparseSparseMaximum SparseSparseMinimum SparseTensorDenseMatMul SparseSoftmax",
        "sparse_add sparse_add_op sparse_add_grad sparse_tensor_dense_add sparse_dense_cwise_add "
        "sparse_dense_cwise_add_op sparse_dense_cwise_mul sparse_dense_cwise_div sparse_maximum sparse_minimum "
        "sparse_sparse_maximum sparse_sparse_minimum sparse_tensor_dense_matmul sparse_tensor_dense_mat_mul "
        "sparse_softmax sparse_softmax_op",
    ),
    "sparse.reduce": (
        "SparseReduceSum SparseReduceSumSparse SparseReduceMax SparseReduceMaxSparse",
        "sparse_reduce_sum sparse_reduce_max sparse_reduce_sum_sparse sparse_reduce_max_sparse sparse_reduce_sum_op "
        "sparse_reduce_max_op sparse_reduce_sum_sparse_op sparse_reduce_max_sparse_op",
    ),
    "sparse.edit_distance": ("EditDistance", "edit_distance edit_distance_op"),
    "sparse.rows": (
        "SparseFillEmptyRows SparseFillEmptyRowsGrad",
        "sparse_fill_empty_rows sparse_fill_empty_rows_op sparse_fill_empty_rows_grad",
    ),
    "array.split": ("Split SplitV", "split split_v split_op"),
    "array.strided_slice": (
        "StridedSlice StridedSliceGrad StridedSliceAssign ResourceStridedSliceAssign",
        "strided_slice strided_slice_grad strided_slice_assign resource_strided_slice_assign get_item",
    ),
    "array.tile": (
        "Tile BroadcastTo BroadcastArgs",
        "tile broadcast_to broadcast_args broadcast_static_shape",
    ),
    "array.transpose": (
        "Transpose InvertPermutation",
        "transpose transpose_op invert_permutation matrix_transpose",
    ),
    "input.queue": (
        "FIFOQueue FIFOQueueV2 PaddingFIFOQueue PaddingFIFOQueueV2 RandomShuffleQueue RandomShuffleQueueV2 "
        "PriorityQueue PriorityQueueV2 QueueEnqueue QueueEnqueueV2 QueueEnqueueMany QueueEnqueueManyV2 "
        "QueueDequeue QueueDequeueV2 QueueDequeueMany QueueDequeueManyV2 QueueDequeueUpTo QueueDequeueUpToV2 "
        "QueueClose QueueCloseV2 QueueIsClosed QueueIsClosedV2 QueueSize QueueSizeV2",
        "fifo_queue fifo_queue_v2 padding_fifo_queue padding_fifo_queue_v2 random_shuffle_queue "
        "random_shuffle_queue_v2 priority_queue priority_queue_v2 queue_enqueue queue_enqueue_v2 "
        "queue_enqueue_many queue_enqueue_many_v2 queue_dequeue queue_dequeue_v2 queue_dequeue_many "
        "queue_dequeue_many_v2 queue_dequeue_up_to queue_dequeue_up_to_v2 queue_close queue_close_v2 "
        "queue_is_closed queue_is_closed_v2 queue_size queue_size_v2",
    ),
    "input.tensors_map": (
        "AddSparseToTensorsMap AddManySparseToTensorsMap TakeManySparseFromTensorsMap",
        "add_sparse_to_tensors_map add_many_sparse_to_tensors_map take_many_sparse_from_tensors_map",
    ),
    "input.reader": (
        "TextLineReader TextLineReaderV2 FixedLengthRecordReader FixedLengthRecordReaderV2 WholeFileReader "
        "WholeFileReaderV2 TFRecordReader TFRecordReaderV2 IdentityReader IdentityReaderV2 ReaderRead ReaderReadV2 "
        "ReaderReadUpTo ReaderReadUpToV2 ReaderNumRecordsProduced ReaderNumRecordsProducedV2 "
        "ReaderNumWorkUnitsCompleted ReaderNumWorkUnitsCompletedV2 ReaderSerializeState ReaderSerializeStateV2 "
        "ReaderRestoreState ReaderRestoreStateV2 ReaderReset ReaderResetV2",
        "text_line_reader text_line_reader_v2 fixed_length_record_reader fixed_length_record_reader_v2 "
        "whole_file_reader whole_file_reader_v2 tf_record_reader tf_record_reader_v2 identity_reader "
        "identity_reader_v2 reader_read reader_read_v2 reader_read_up_to reader_read_up_to_v2 "
        "reader_num_records_produced reader_num_records_produced_v2 reader_num_work_units_completed "
        "reader_num_work_units_completed_v2 reader_serialize_state reader_serialize_state_v2 reader_restore_state "
        "reader_restore_state_v2 reader_reset reader_reset_v2",
    ),
    "data.sources": (
        "TensorDataset TensorSliceDataset SparseTensorSliceDataset RangeDataset",
        "tensor_dataset tensor_slice_dataset sparse_tensor_slice_dataset range_dataset",
    ),
    "data.files": (
        "TextLineDataset TFRecordDataset FixedLengthRecordDataset FixedLengthRecordDatasetV2",
        "text_line_dataset tf_record_dataset fixed_length_record_dataset fixed_length_record_dataset_v2",
    ),
    "data.transformations": (
        "TakeDataset SkipDataset RepeatDataset ShardDataset ZipDataset ConcatenateDataset ShuffleDataset "
        "ShuffleAndRepeatDataset BatchDataset BatchDatasetV2 PaddedBatchDataset PaddedBatchDatasetV2 WindowDataset "
        "PrefetchDataset CacheDataset OptimizeDataset ModelDataset",
        "take_dataset skip_dataset repeat_dataset shard_dataset zip_dataset concatenate_dataset shuffle_dataset "
        "shuffle_and_repeat_dataset batch_dataset batch_dataset_v2 padded_batch_dataset padded_batch_dataset_v2 "
        "window_dataset prefetch_dataset cache_dataset optimize_dataset model_dataset",
    ),
    "data.functions": (
        "MapDataset ParallelMapDataset MapAndBatchDataset FilterDataset FlatMapDataset InterleaveDataset "
        "ParallelInterleaveDatasetV2 GeneratorDataset ReduceDataset OneShotIterator",
        "map_dataset parallel_map_dataset map_and_batch_dataset filter_dataset flat_map_dataset interleave_dataset "
        "parallel_interleave_dataset_v2 generator_dataset reduce_dataset one_shot_iterator",
    ),
    "sparse.serialize": (
        "SerializeSparse SerializeManySparse DeserializeSparse",
        "serialize_sparse serialize_many_sparse deserialize_sparse",
    ),
    "data.iterators": (
        "Iterator IteratorV2 MakeIterator IteratorGetNext IteratorGetNextSync IteratorToStringHandle "
        "IteratorFromStringHandle IteratorFromStringHandleV2",
        "iterator iterator_v2 make_iterator iterator_get_next iterator_get_next_sync iterator_to_string_handle "
        "iterator_from_string_handle iterator_from_string_handle_v2",
    ),
    "parsing.example": (
        "ParseExample ParseSingleExample ParseSingleSequenceExample ParseSequenceExample",
        "parse_example_op parse_single_example_op parse_single_sequence_example_op parse_sequence_example_op",
    ),
    "parsing.records": (
        "DecodeCSV DecodeRaw DecodeJSONExample DecodeCompressed ParseTensor SerializeTensor",
        "decode_csv decode_csv_op decode_raw decode_json_example decode_compressed parse_tensor serialize_tensor",
    ),
    "parsing.vocabulary": (
        "GenerateVocabRemapping LoadAndRemapMatrix",
        "generate_vocab_remapping load_and_remap_matrix",
    ),
    "parsing.files": ("ReadFile WriteFile MatchingFiles", "read_file write_file matching_files"),
    "parsing.images": (
        "DecodePng DecodeJpeg DecodeAndCropJpeg DecodeGif DecodeBmp EncodePng EncodeJpeg "
        "EncodeJpegVariableQuality ExtractJpegShape",
        "decode_png decode_jpeg decode_and_crop_jpeg decode_gif decode_bmp encode_png encode_jpeg "
        "encode_jpeg_variable_quality extract_jpeg_shape",
    ),
    "strings.values": (
        "StringToNumber AsString StringToHashBucket StringToHashBucketFast StringToHashBucketStrong StringStrip "
        "StringLength StringLower StringUpper EncodeBase64 DecodeBase64 Substr",
        "string_to_number as_string string_to_hash_bucket string_to_hash_bucket_fast string_to_hash_bucket_strong "
        "string_strip string_length string_lower string_upper encode_base64 decode_base64 substr",
    ),
    "strings.regex": (
        "RegexReplace StaticRegexReplace RegexFullMatch StaticRegexFullMatch",
        "regex_replace regex_full_match regex_replace_op static_regex_replace regex_full_match_op "
        "static_regex_full_match",
    ),
    "strings.parts": (
        "StringSplit StringSplitV2 ReduceJoin UnsortedSegmentJoin",
        "string_split_op string_split_v2 reduce_join_op unsorted_segment_join",
    ),
    "summary.values": (
        "ScalarSummary HistogramSummary ImageSummary AudioSummaryV2 TensorSummaryV2 MergeSummary",
        "scalar_summary histogram_summary image_summary audio_summary_v2 tensor_summary_v2 merge_summary",
    ),
    "training.apply": (
        "ApplyGradientDescent ApplyProximalGradientDescent SparseApplyProximalGradientDescent ApplyMomentum "
        "SparseApplyMomentum ApplyAdagrad SparseApplyAdagrad ApplyProximalAdagrad SparseApplyProximalAdagrad "
        "ApplyAdagradDA SparseApplyAdagradDA ApplyAdam ApplyRMSProp SparseApplyRMSProp ApplyCenteredRMSProp "
        "SparseApplyCenteredRMSProp ApplyAdadelta SparseApplyAdadelta ApplyFtrl SparseApplyFtrl ApplyFtrlV2 "
        "SparseApplyFtrlV2 ResourceApplyGradientDescent ResourceApplyProximalGradientDescent "
        "ResourceSparseApplyProximalGradientDescent ResourceApplyMomentum ResourceSparseApplyMomentum "
        "ResourceApplyAdagrad ResourceSparseApplyAdagrad ResourceApplyProximalAdagrad "
        "ResourceSparseApplyProximalAdagrad ResourceApplyAdagradDA ResourceSparseApplyAdagradDA "
        "ResourceApplyAdam ResourceApplyRMSProp ResourceSparseApplyRMSProp ResourceApplyCenteredRMSProp "
        "ResourceSparseApplyCenteredRMSProp ResourceApplyAdadelta ResourceSparseApplyAdadelta "
        "ResourceApplyFtrl ResourceSparseApplyFtrl ResourceApplyFtrlV2 ResourceSparseApplyFtrlV2",
        "apply_gradient_descent apply_proximal_gradient_descent sparse_apply_proximal_gradient_descent "
        "apply_momentum sparse_apply_momentum apply_adagrad sparse_apply_adagrad apply_proximal_adagrad "
        "sparse_apply_proximal_adagrad apply_adagrad_da sparse_apply_adagrad_da apply_adam apply_rms_prop "
        "sparse_apply_rms_prop apply_centered_rms_prop sparse_apply_centered_rms_prop apply_adadelta "
        "sparse_apply_adadelta apply_ftrl sparse_apply_ftrl apply_ftrl_v2 sparse_apply_ftrl_v2",
    ),
}

_MODULE_OF_OP = {op: module for module, (ops, _) in _CONTENTS.items() for op in ops.split()}
_MODULE_OF_BUILDER = {name: module for module, (_, names) in _CONTENTS.items() for name in names.split()}


def __getattr__(name):
    module = _MODULE_OF_BUILDER.get(name)
    if module is None:
        raise AttributeError(f"module 'stillflow.ops' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"stillflow.ops.{module}"), name)
    globals()[name] = value
    return value


def _load(op_type):
    module = _MODULE_OF_OP.get(op_type)
    if module is not None:
        importlib.import_module(f"stillflow.ops.{module}")


_op_def.set_loader(_load)


def all_op_types():
    """The types of all ops, in alphabetical order."""
    return sorted(_MODULE_OF_OP)
