"""All Inception networks: tf.contrib.slim.nets.inception."""

from __future__ import annotations

from stillflow.contrib.slim.nets.inception_v1 import (  # noqa: F401
    inception_v1,
    inception_v1_arg_scope,
    inception_v1_base,
)
from stillflow.contrib.slim.nets.inception_v2 import (  # noqa: F401
    inception_v2,
    inception_v2_arg_scope,
    inception_v2_base,
)
from stillflow.contrib.slim.nets.inception_v3 import (  # noqa: F401
    inception_v3,
    inception_v3_arg_scope,
    inception_v3_base,
)
from stillflow.names import public_module

public_module("contrib.slim.nets.inception", "contrib.slim.python.slim.nets.inception")
