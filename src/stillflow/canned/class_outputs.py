"""What classifiers say of classes: their names and numbers, and the signature."""

from __future__ import annotations

from stillflow import ops
from stillflow.resources.vocabulary_tables import index_table_from_tensor, index_to_string_table_from_tensor
from stillflow.saver.saved_model.export_outputs import ClassificationOutput


def _of_each_example(tensor, row):
    """A row of values for each example of a tensor: [batch, values]."""
    batch_size = ops.shape(tensor)[0]
    return ops.tile(ops.expand_dims(row(), axis=0), multiples=[batch_size, 1])


def all_class_ids(logits, n_classes):
    """The numbers of all classes, for each example: [batch, classes]."""
    return _of_each_example(logits, lambda: ops.range(n_classes))


def all_classes(logits, n_classes, label_vocabulary=None):
    """The names of all classes, for each example: [batch, classes]. Without a vocabulary they are numbers."""
    return _of_each_example(logits, lambda: label_vocabulary or ops.as_string(ops.range(n_classes)))


def classification_output(scores, n_classes, label_vocabulary=None):
    """The ClassificationOutput of scores [batch, classes]."""
    return ClassificationOutput(scores=scores, classes=all_classes(scores, n_classes, label_vocabulary))


def class_names(class_ids, label_vocabulary):
    """The names of classes, of their numbers."""
    if label_vocabulary:
        table = index_to_string_table_from_tensor(label_vocabulary, name="class_string_lookup")
        return table.lookup(class_ids)
    return ops.as_string(class_ids, name="str_classes")


def class_numbers(labels, label_vocabulary):
    """The numbers of classes, of their names."""
    table = index_table_from_tensor(tuple(label_vocabulary), name="class_id_lookup")
    return table.lookup(labels)
