"""The command line: `bg-env`, also `python -m bg_env`.

Bad input gets one line that says what is wrong and what would be right, and exit code 2; Ctrl-C gives 130. What a command
needs beyond the core is imported when it runs.
"""

from bg_env.cli.main import main

__all__ = ["main"]
