"""What tf.test offers to programs that test themselves."""

from stillflow.names import passes_on

passes_on("python.eager.test", "python.platform.test")
