"""What tensorflow.python.training.summary_io calls otherwise than tf.summary does."""

from stillflow.summary.writer import FileWriterCache as SummaryWriterCache  # noqa: F401
