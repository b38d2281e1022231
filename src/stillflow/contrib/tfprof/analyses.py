"""contrib.tfprof.model_analyzer: tf.profiler.profile, and options for it, under their older names."""

from __future__ import annotations

from stillflow.names import public
from stillflow.platform.deprecation import deprecated
from stillflow.profiler.profiling import profile
from stillflow.profiler.settings import ProfileOptionBuilder

_LATER = ("min_occurrence", "step", "min_peak_bytes", "min_residual_bytes", "min_output_bytes") + (
    "min_accelerator_micros",
    "min_cpu_micros",
)


def _early(options, **changes):
    """Options but for those that came later."""
    kept = {name: value for name, value in options.items() if name not in _LATER}
    return kept | {"dump_to_file": "", **changes}


TRAINABLE_VARS_PARAMS_STAT_OPTIONS = public("contrib.tfprof.model_analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS")(
    _early(ProfileOptionBuilder.trainable_variables_parameter())
)
FLOAT_OPS_OPTIONS = public("contrib.tfprof.model_analyzer.FLOAT_OPS_OPTIONS")(
    _early(ProfileOptionBuilder.float_operation())
)
PRINT_ALL_TIMING_MEMORY = public("contrib.tfprof.model_analyzer.PRINT_ALL_TIMING_MEMORY")(
    _early(ProfileOptionBuilder.time_and_memory(), order_by="name")
)


@public("contrib.tfprof.model_analyzer.print_model_analysis")
@deprecated(
    "2018-01-01",
    "Use `tf.profiler.profile(graph, run_meta, op_log, cmd, options)`. Build `options` with "
    "`tf.profiler.ProfileOptionBuilder`. See README.md for details",
)
def print_model_analysis(graph, run_meta=None, op_log=None, tfprof_cmd="scope", tfprof_options=0):
    """tf.profiler.profile with arguments of other names."""
    return profile(graph, run_meta, op_log, tfprof_cmd, tfprof_options)
