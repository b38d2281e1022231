"""Variables: values that a session keeps between runs, by name or not, and what initializes them."""

from stillflow.variables import creation  # noqa: F401  what makes a tf.Variable must be known when there is one
