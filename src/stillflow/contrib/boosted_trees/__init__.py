"""Boosted trees that learn from batches (Ponomareva et al., "TF Boosted Trees", 2017). Also the namespace
tf.contrib.boosted_trees."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.boosted_trees", __name__)
