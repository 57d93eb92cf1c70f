"""``python -m clipperplus``: the command line."""

from .cli import main

main()
