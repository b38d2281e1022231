"""The eager versions of what stands below: importing this module registers them all."""

from stillflow.eager import (  # noqa: F401
    application,
    checks,
    constant,
    control,
    critical_section,
    custom_gradient,
    equality,
    py_func,
    queues,
    template,
    tensor_array,
    variable,
    variable_scope,
)
