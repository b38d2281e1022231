"""What every program starts with: its flags, its log, its main function."""
