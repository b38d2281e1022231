"""Distribution strategies on one device, and where the tasks of clusters are. Also the namespace tf.distribute.

TensorFlow's strategies make variables and run functions on several devices. Here there is one, the CPU: a strategy
says where variables are and which function runs in which context, as programs written for them expect.
"""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("distribute", __name__)
