"""tf.test.*"""

from unittest import mock as mock

from stillflow.test_cases.gradient_error import compute_gradient as compute_gradient
from stillflow.test_cases.gradient_error import compute_gradient_error as compute_gradient_error
from stillflow.test_cases.graph_def_difference import assert_equal_graph_def as assert_equal_graph_def
from stillflow.test_cases.program import get_temp_dir as get_temp_dir
from stillflow.test_cases.program import main as main
from stillflow.test_cases.program import test_src_dir_path as test_src_dir_path
from stillflow.test_cases.stubs import StubOutForTesting as StubOutForTesting
from stillflow.test_cases.test_case import TestCase as TestCase


def gpu_device_name():
    """The name of a GPU: empty, there is none."""
    return ""


def is_built_with_cuda():
    """Whether this was built for NVIDIA's GPUs: False."""
    return False


def is_built_with_gpu_support():
    """Whether this was built for GPUs: False."""
    return False


def is_built_with_rocm():
    """Whether this was built for AMD's GPUs: False."""
    return False


def is_gpu_available(cuda_only=False, min_cuda_compute_capability=None):
    """Whether there is a GPU that can be used: False."""
    return False
