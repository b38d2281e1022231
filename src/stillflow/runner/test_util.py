"""What tensorflow.python calls otherwise than tf.test does."""

from absl.testing.absltest import TestCase as TestCase

from stillflow.test_cases.program import get_temp_dir as GetTempDir  # noqa: F401, N812
from stillflow.test_cases.test_case import TestCase as TensorFlowTestCase  # noqa: F401
