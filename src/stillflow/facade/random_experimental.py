"""tf.random.experimental.*"""

from stillflow.variables.random_generator import Generator as Generator
from stillflow.variables.random_generator import create_rng_state as create_rng_state
from stillflow.variables.random_generator import get_global_generator as get_global_generator
from stillflow.variables.random_generator import set_global_generator as set_global_generator
