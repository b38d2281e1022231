"""What an old program finds around it: a tensorflow, and Python, numpy and other libraries much as they were."""

from __future__ import annotations

from stillflow.graph.gpu_stand_ins import stand_in_for_gpus
from stillflow.platform.old_flags import let_defaults_be_of_any_type, let_programs_define, let_programs_set
from stillflow.runner import (
    libraries,
    loaded_submodules,
    numpy_changes,
    python_calls,
    python_names,
    tensorflow_modules,
)
from stillflow.runner.notices import Once

# Before TensorFlow 1.14 programs could have such flags; since then absl's logging has them, and refuses others.
_FLAGS_OF_LOGGING = ("alsologtostderr", "log_dir", "logtostderr", "stderrthreshold", "showprefixforinfo")


def install():
    """Makes `import tensorflow` mean stillflow, and gives Python and libraries what they have dropped."""
    tensorflow_modules.install()
    numpy_changes.install()
    python_names.install()
    python_calls.install()
    loaded_submodules.install()
    libraries.install()
    on_gpu = Once("{0.name} is assigned to {0._device}; here it runs on the processor.")
    stand_in_for_gpus(on_gpu)
    on_flag = Once("the flag --{0} is the program's, not that of absl's logging, as in TensorFlow 1.13 and before.")
    let_programs_define(_FLAGS_OF_LOGGING, on_flag)
    let_programs_set(Once("the flag --{0} is set but not defined, which TensorFlow 1.4 and before took."))
    on_default = Once("the flag --{0} has a default of another type, which TensorFlow 1.4 and before took.")
    let_defaults_be_of_any_type(on_default)
