"""Why names and ops of TensorFlow 1.15 are not here, for docs/compatibility.md.

The first pattern that fits says it.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

_TPU = "drives TPUs, hardware that is not here"
_XLA = "TensorFlow's just-in-time compiler; graphs are compiled here anyway"
_BUILD = (
    "tells how TensorFlow's own shared library was built, against which programs in C++ are compiled; there is none"
)
_CLOUD = "asks a service of machines in a cloud for the members of a cluster"
_BATCHING = "puts requests of a model server together; model servers batch before a session is called"
_PROTO = "needs the descriptors of a program's own messages at run time"
_LMDB = "needs the library of LMDB, a database of another project"

# By the whole name, without "tf.".
NAMES = {
    "lite.*": "converts models for phones and microcontrollers: a product of its own",
    "tpu.*": _TPU,
    "distribute.experimental.TPUStrategy": _TPU,
    "estimator.tpu.*": _TPU,
    "xla.*": _XLA,
    "user_ops.*": "an example of how to add ops to TensorFlow's own build",
    "sysconfig.*": _BUILD,
    "CXX11_ABI_FLAG": _BUILD,
    "MONOLITHIC_BUILD": _BUILD,
    "LMDBReader": _LMDB,
    "io.*code_proto": _PROTO,
    "nondifferentiable_batch_function": _BATCHING,
    "distribute.cluster_resolver.*": _CLOUD,
    "config.experimental_connect_to_*": "runs eager operations on other machines; sessions reach these",
    "profiler.advise": "advice of TensorFlow's profiler about its own kernels",
    "train.do_quantize_training_on_graphdef": "rewrites graphs for training with few bits",
}

_GPU = "of GPUs, which are not here"
_EAGER_DATA = "state of data sets in eager execution of TensorFlow 2; no graph of 1.15 makes it"
_MKL = "TensorFlow has a kernel only where it was built for one maker's library"
_REPLACED = "removed from GraphDefs before version 16, from 2016; what came after is here"
_PHONES = "of graphs in eight bits, which TensorFlow's tool for phones makes; those of servers have other ops"
_DATABASE = "reads or writes SQLite, a database of another project"

# By the type of the op.
OPS = {
    "*TPU*": _TPU,
    "Infeed*": _TPU,
    "Outfeed*": _TPU,
    "Prelinearize*": _TPU,
    "AllToAll": _TPU,
    "CollectivePermute": _TPU,
    "CrossReplicaSum": _TPU,
    "WorkerHeartbeat": _TPU,
    "Cudnn*": _GPU,
    "Nccl*": _GPU,
    "*MultiDeviceIterator*": _GPU,
    "Collective*": "exchanges values between devices of one run; there is one device here",
    "*LMDB*": _LMDB,
    "*SqlDataset": _DATABASE,
    "*ParseExampleDataset": "tf.data.experimental.parse_example_dataset is a map over ParseExample here",
    "*MatchingFilesDataset": "of a function that 1.15 does not export",
    "*SlidingWindowDataset": "replaced by WindowDataset, which is here",
    "*SleepDataset": "for tests of TensorFlow's data sets",
    "*DatasetToTFRecord": "tf.data.experimental.TFRecordWriter is a reduction of the data set here",
    "AnonymousIterator*": _EAGER_DATA,
    "DeleteIterator": _EAGER_DATA,
    "*IteratorGetDevice": _GPU,
    "ChooseFastestBranchDataset": "made from others by TensorFlow's rewriting of data sets",
    "FilterByLastComponentDataset": "made from others by TensorFlow's rewriting of data sets",
    "SamplingDataset": "made from others by TensorFlow's rewriting of data sets",
    "SnapshotDataset": "of a function that 1.15 does not export",
    "DatasetFromGraph": "of TensorFlow 2's way to hand data sets to other processes",
    "DatasetToGraph": "of TensorFlow 2's way to hand data sets to other processes",
    "StatsAggregatorHandleV2": _EAGER_DATA,
    "StatsAggregatorSetSummaryWriter": _EAGER_DATA,
    "Batch": _BATCHING,
    "BatchFunction": _BATCHING,
    "Unbatch*": _BATCHING,
    "*Proto*": _PROTO,
    "Fact": "a joke of TensorFlow's",
    "Abort": "ends the process on purpose, which nothing that a graph holds may do here",
    "FakeQueue": "for tests of TensorFlow's queues",
    "CreateSummaryDbWriter": _DATABASE,
    "QuantizedBatchNormWithGlobalNormalization": _PHONES,
    "QuantizedInstanceNorm": _PHONES,
    "QuantizedResizeBilinear": _PHONES,
    "Quantized*With*": _MKL,
    "Quantized*And*": _MKL,
    "QuantizedConv2DPerChannel": _MKL,
    "QuantizedDepthwiseConv2D": _MKL,
    "Requantiz*PerChannel": _MKL,
    "BatchSelfAdjointEig": _REPLACED,
    "SelfAdjointEig": _REPLACED,
    "RandomCrop": _REPLACED,
    "AdjustContrast": _REPLACED,
    "TileGrad": _REPLACED,
    "AudioSummary": _REPLACED,
    "BatchCholeskyGrad": _REPLACED,
    "MatrixExponential": "removed from GraphDefs; tf.linalg.expm is made of other ops",
    "ImmutableConst": "maps a file of TensorFlow's own kind into memory",
    "GetSessionHandleV2": "handles of the other kind, which functions use, are here",
    "RefSelect": "no function of TensorFlow builds it",
    "FakeParam": "of conditions of TensorFlow 2",
    "StatefulStandardNormal": "removed from GraphDefs; StatefulStandardNormalV2 is here",
    "MutableDenseHashTable": "fails in TensorFlow 1.15 whenever it runs; MutableDenseHashTableV2 is here",
}


def reason(name, is_op=False):
    """Why something is not here. KeyError if nobody has said so."""
    for pattern, why in (OPS if is_op else NAMES).items():
        if fnmatchcase(name, pattern):
            return why
    raise KeyError(f"{name} is not here, and tools/left_out.py does not say why")


def by_reason(names, is_op=False):
    """{reason: names}, in the order in which the reasons come up."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(reason(name, is_op), []).append(name)
    return found
