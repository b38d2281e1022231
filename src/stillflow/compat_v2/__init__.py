"""What tensorflow.compat.v2 spells in another way than tf: see stillflow.names.second for the rest."""
