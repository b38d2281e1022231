"""tf.quantization."""

from stillflow.facade.fake_quant import fake_quant_with_min_max_args as fake_quant_with_min_max_args
from stillflow.facade.fake_quant import fake_quant_with_min_max_args_gradient as fake_quant_with_min_max_args_gradient
from stillflow.facade.fake_quant import fake_quant_with_min_max_vars as fake_quant_with_min_max_vars
from stillflow.facade.fake_quant import fake_quant_with_min_max_vars_gradient as fake_quant_with_min_max_vars_gradient
from stillflow.facade.fake_quant import (
    fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel,
)
from stillflow.facade.fake_quant import (
    fake_quant_with_min_max_vars_per_channel_gradient as fake_quant_with_min_max_vars_per_channel_gradient,
)
