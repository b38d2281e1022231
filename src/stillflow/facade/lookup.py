"""tf.lookup."""

from stillflow.resources.lookup import KeyValueTensorInitializer as KeyValueTensorInitializer
from stillflow.resources.lookup import StaticHashTable as StaticHashTable
from stillflow.resources.lookup import StaticVocabularyTable as StaticVocabularyTable
from stillflow.resources.lookup import TextFileIndex as TextFileIndex
from stillflow.resources.lookup import TextFileInitializer as TextFileInitializer
