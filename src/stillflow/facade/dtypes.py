"""tf.dtypes: element types, and conversions between them."""

from stillflow.facade.casts import cast as cast
from stillflow.facade.casts import saturate_cast as saturate_cast
from stillflow.graph.dtypes import DType as DType
from stillflow.graph.dtypes import as_dtype as as_dtype
from stillflow.graph.dtypes import bfloat16 as bfloat16
from stillflow.graph.dtypes import bool_ as bool
from stillflow.graph.dtypes import complex64 as complex64
from stillflow.graph.dtypes import complex128 as complex128
from stillflow.graph.dtypes import float16 as float16
from stillflow.graph.dtypes import float16 as half
from stillflow.graph.dtypes import float32 as float32
from stillflow.graph.dtypes import float64 as double
from stillflow.graph.dtypes import float64 as float64
from stillflow.graph.dtypes import int8 as int8
from stillflow.graph.dtypes import int16 as int16
from stillflow.graph.dtypes import int32 as int32
from stillflow.graph.dtypes import int64 as int64
from stillflow.graph.dtypes import qint8 as qint8
from stillflow.graph.dtypes import qint16 as qint16
from stillflow.graph.dtypes import qint32 as qint32
from stillflow.graph.dtypes import quint8 as quint8
from stillflow.graph.dtypes import quint16 as quint16
from stillflow.graph.dtypes import resource as resource
from stillflow.graph.dtypes import string as string
from stillflow.graph.dtypes import uint8 as uint8
from stillflow.graph.dtypes import uint16 as uint16
from stillflow.graph.dtypes import uint32 as uint32
from stillflow.graph.dtypes import uint64 as uint64
from stillflow.graph.dtypes import variant as variant

QUANTIZED_DTYPES = frozenset((qint8, quint8, qint16, quint16, qint32))
