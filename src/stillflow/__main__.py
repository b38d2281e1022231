"""`python -m stillflow`: the command, or a program to run."""

import sys

from stillflow.command_line import main

if __name__ == "__main__":
    sys.exit(main())
