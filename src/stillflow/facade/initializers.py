"""tf.initializers.*, and the names of its classes in tf.*."""

from stillflow.variables.initializers import Constant as constant
from stillflow.variables.initializers import GlorotNormal as glorot_normal
from stillflow.variables.initializers import GlorotUniform as glorot_uniform
from stillflow.variables.initializers import Identity as identity
from stillflow.variables.initializers import Ones as ones
from stillflow.variables.initializers import Orthogonal as orthogonal
from stillflow.variables.initializers import RandomNormal as random_normal
from stillflow.variables.initializers import RandomUniform as random_uniform
from stillflow.variables.initializers import TruncatedNormal as truncated_normal
from stillflow.variables.initializers import UniformUnitScaling as uniform_unit_scaling
from stillflow.variables.initializers import VarianceScaling as variance_scaling
from stillflow.variables.initializers import Zeros as zeros
from stillflow.variables.initializers import he_normal as he_normal
from stillflow.variables.initializers import he_uniform as he_uniform
from stillflow.variables.initializers import lecun_normal as lecun_normal
from stillflow.variables.initializers import lecun_uniform as lecun_uniform
from stillflow.variables.readiness import tables_initializer as tables_initializer
from stillflow.variables.variable import global_variables_initializer as global_variables
from stillflow.variables.variable import local_variables_initializer as local_variables
from stillflow.variables.variable import variables_initializer as variables

__all__ = [
    "constant_initializer",
    "glorot_normal_initializer",
    "glorot_uniform_initializer",
    "ones_initializer",
    "orthogonal_initializer",
    "random_normal_initializer",
    "random_uniform_initializer",
    "truncated_normal_initializer",
    "uniform_unit_scaling_initializer",
    "variance_scaling_initializer",
    "zeros_initializer",
]

constant_initializer = constant
glorot_normal_initializer = glorot_normal
glorot_uniform_initializer = glorot_uniform
ones_initializer = ones
orthogonal_initializer = orthogonal
random_normal_initializer = random_normal
random_uniform_initializer = random_uniform
truncated_normal_initializer = truncated_normal
uniform_unit_scaling_initializer = uniform_unit_scaling
variance_scaling_initializer = variance_scaling
zeros_initializer = zeros
