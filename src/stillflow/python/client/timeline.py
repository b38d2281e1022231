"""tensorflow.python.client.timeline."""

from stillflow.session.timeline import Timeline as Timeline
