"""tf.lookup."""

from stillflow.lookup import KeyValueTensorInitializer as KeyValueTensorInitializer
from stillflow.lookup import StaticHashTable as StaticHashTable
from stillflow.lookup import StaticVocabularyTable as StaticVocabularyTable
from stillflow.lookup import TextFileIndex as TextFileIndex
from stillflow.lookup import TextFileInitializer as TextFileInitializer
