"""``python -m dualfree`` is the command ``dualfree``."""

from dualfree.cli import main

if __name__ == "__main__":
    main()
