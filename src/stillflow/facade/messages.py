"""The protobuf messages of tf.*; each is made when it is first asked for."""

MESSAGES = frozenset(
    "AttrValue ConfigProto Event GPUOptions GraphDef GraphOptions HistogramProto LogMessage MetaGraphDef "
    "NameAttrList NodeDef OptimizerOptions RunMetadata RunOptions SessionLog Summary SummaryMetadata "
    "TensorInfo".split()
)
