"""tensorflow.python.client.timeline."""

from stillflow.timeline import Timeline as Timeline
