"""File systems, local and remote, and files of records."""
