"""`stillflow ckpt`: looks into checkpoints, MetaGraphs and SavedModels, and turns checkpoints into other files."""
