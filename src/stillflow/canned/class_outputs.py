"""What classifiers say of classes: their names and numbers, and the signature."""

from __future__ import annotations

from stillflow import ops
from stillflow.canned.keys import PredictionKeys
from stillflow.graph import dtypes
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


def chosen_classes(logits, keys, label_vocabulary):
    """The class with the greatest logit, as a number and by its name: those of `keys` that are wanted."""
    if PredictionKeys.CLASS_IDS not in keys and PredictionKeys.CLASSES not in keys:
        return {}
    class_ids = ops.argmax(logits, axis=-1, name=PredictionKeys.CLASS_IDS)
    class_ids = ops.expand_dims(class_ids, axis=-1)
    found = {PredictionKeys.CLASS_IDS: class_ids} if PredictionKeys.CLASS_IDS in keys else {}
    if PredictionKeys.CLASSES in keys:
        found[PredictionKeys.CLASSES] = class_names(class_ids, label_vocabulary)
    return found


def classes_of_all(logits, n_classes, keys, label_vocabulary):
    """All classes, as numbers and by their names: those of `keys` that are wanted."""
    found = {}
    if PredictionKeys.ALL_CLASS_IDS in keys:
        found[PredictionKeys.ALL_CLASS_IDS] = all_class_ids(logits, n_classes)
    if PredictionKeys.ALL_CLASSES in keys:
        found[PredictionKeys.ALL_CLASSES] = all_classes(logits, n_classes, label_vocabulary)
    return found


def of_class(class_id, probabilities):
    """(begin, size) of the slice of a tensor [..., classes] that is one class's."""
    rank = ops.rank(probabilities) - 1
    begin = ops.concat([ops.zeros([rank], dtype=dtypes.int32), [class_id]], axis=0)
    return begin, ops.concat([-1 * ops.ones([rank], dtype=dtypes.int32), [1]], axis=0)


def class_ids_of(labels, label_vocabulary):
    """The numbers of classes, of labels. Raises ValueError for labels of another type than the vocabulary wants."""
    if label_vocabulary is None:
        if not labels.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer. Instead got {labels.dtype}.")
        return labels
    if labels.dtype != dtypes.string:
        raise ValueError(f"Labels dtype should be string if there is a vocabulary. Instead got {labels.dtype}")
    return class_numbers(labels, label_vocabulary)
