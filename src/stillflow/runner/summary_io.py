"""What tensorflow.python.training.summary_io calls otherwise than tf.summary does."""

from stillflow.summary_writer import FileWriterCache as SummaryWriterCache  # noqa: F401
