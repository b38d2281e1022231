"""Programs that say `import tensorflow`, run as they are."""
