"""``python -m accord`` is the ``accord`` command."""

import sys

from accord.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
