"""What tensorflow.compat.v2 spells in another way than tf: see stillflow.names.compat_v2 for the rest."""
