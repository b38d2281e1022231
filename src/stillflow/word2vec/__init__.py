"""`stillflow word2vec`: skip-gram with noise-contrastive estimation over a text, from the corpus to the vectors.

The model is an ordinary TensorFlow 1 graph (model.py); what is around it reads text, makes batches in the
background, evaluates and writes.
"""
