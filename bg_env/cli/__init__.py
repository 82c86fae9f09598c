"""The command line program: `bg-env`, also `python -m bg_env`.

A bad argument is reported in one line on stderr, which says what is wrong and what would be right, and the exit code is 2.
SIGTERM ends a command as Ctrl-C does, and the exit code is 130. Libraries that only some commands need are imported when those
commands run.
"""

from bg_env.cli.main import main

__all__ = ["main"]
