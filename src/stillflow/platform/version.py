"""tf.version: the release of TensorFlow whose behaviour this is, as programs check it."""

from stillflow.names import public

VERSION = public("VERSION", "version.VERSION", "python.framework.versions.__version__")("1.15.5")
GIT_VERSION = public("GIT_VERSION", "version.GIT_VERSION", "python.framework.versions.__git_version__")(
    "v1.15.4-39-g3db52be"
)
COMPILER_VERSION = public("COMPILER_VERSION", "version.COMPILER_VERSION")("7.3.1 20180303")
GRAPH_DEF_VERSION = public("GRAPH_DEF_VERSION", "version.GRAPH_DEF_VERSION")(134)
GRAPH_DEF_VERSION_MIN_CONSUMER = public("GRAPH_DEF_VERSION_MIN_CONSUMER", "version.GRAPH_DEF_VERSION_MIN_CONSUMER")(0)
GRAPH_DEF_VERSION_MIN_PRODUCER = public("GRAPH_DEF_VERSION_MIN_PRODUCER", "version.GRAPH_DEF_VERSION_MIN_PRODUCER")(0)
