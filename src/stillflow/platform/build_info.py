"""For which machines the kernels were built: for processors alone."""

from stillflow.names import public

is_cuda_build = public("python.platform.build_info.is_cuda_build")(False)
is_rocm_build = public("python.platform.build_info.is_rocm_build")(False)
