"""The program `bg-env`: its commands, and how it reports errors."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
import warnings
from collections.abc import Iterator
from typing import Any, Final, NoReturn

import click

import bg_env
from bg_env.cli.analyse import analyse
from bg_env.cli.arena import arena
from bg_env.cli.bench import bench
from bg_env.cli.errors import errors
from bg_env.cli.hint import hint
from bg_env.cli.info import info
from bg_env.cli.play import play, watch
from bg_env.cli.replay import replay
from bg_env.cli.rollout import rollout
from bg_env.cli.show import plays, show
from bg_env.cli.solve import solve
from bg_env.cli.train import train
from bg_env.errors import BgEnvError, UntrustedCodeWarning, printable
from bg_env.train.interrupt import sigterm_interrupts

__all__ = ["main"]

_CONTEXT: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
_LONG: Final = re.compile(r"\S{300,}")
"""A word of a message that is too long to be quoted whole."""
_TORCH_MEMORY: Final = re.compile(
    r"you tried to allocate \d+ bytes|not enough memory|can't allocate memory|out of memory|Storage size calculation overflowed"
)
"""The words of PyTorch, which has no MemoryError, on memory that there is not."""
_NO_OUTPUT: Final = (errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EBADF)
"""Errors of an output that cannot be written to; click itself handles one whose reader has gone (EPIPE)."""


class _Program(click.Group):
    """A group that reports each error in one line."""

    def main(self, args: Any = None, prog_name: Any = None, standalone_mode: bool = True, **extra: Any) -> Any:  # type: ignore[override] # overloads
        """Run the program; see `click.Command.main`."""
        if not standalone_mode:
            return super().main(args, prog_name, standalone_mode=False, **extra)
        try:
            with sigterm_interrupts(), _warnings_in_one_line():
                code = super().main(args, prog_name or "bg-env", standalone_mode=False, **extra)
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message())
            sys.exit(0)
        except click.ClickException as error:
            context = getattr(error, "ctx", None)
            where = context.command_path if context else "bg-env"
            _fail(where, error.format_message(), f" (see {where} --help)" if context else "")
        except BgEnvError as error:
            _fail("bg-env", str(error))
        except OSError as error:
            if error.filename is not None:
                _fail("bg-env", f"{error.filename}: {error.strerror}: give a path that can be used")
            if error.errno not in _NO_OUTPUT:
                raise
            _drop_output()
            _fail("bg-env", f"the output cannot be written: {error.strerror}")
        except MemoryError as error:
            _no_memory(str(error))
        except (click.Abort, KeyboardInterrupt):
            click.echo("bg-env: interrupted", err=True)
            sys.exit(130)
        except RuntimeError as error:  # click.Abort is one as well
            found = _TORCH_MEMORY.search(str(error))
            if not found:
                raise
            _no_memory(found[0])
        sys.exit(code if isinstance(code, int) else 0)


@contextlib.contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """Print each warning of untrusted code in one line, as errors are; others as ever."""
    with warnings.catch_warnings():
        before = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
            if issubclass(category, UntrustedCodeWarning):
                click.echo(f"bg-env: {printable(str(message))}", err=True)
            else:
                before(message, category, *rest, **more)

        warnings.showwarning = show
        warnings.simplefilter("always", UntrustedCodeWarning)
        yield


def _drop_output() -> None:
    """Discard output that could not be written: Python would try again when it ends."""
    with contextlib.suppress(OSError, ValueError):  # an output without a file, as in tests
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _no_memory(why: str) -> NoReturn:
    _fail("bg-env", f"there is not enough memory ({why}): ask for less, such as fewer games at once or a smaller net")


def _fail(where: str, message: str, more: str = "") -> NoReturn:
    shown = _LONG.sub(lambda word: f"{word[0][:80]}...", printable(" ".join(message.split())))
    click.echo(f"{where}: {shown}{more}", err=True)
    sys.exit(2)


@click.group("bg-env", cls=_Program, context_settings=_CONTEXT, no_args_is_help=True)
@click.version_option(bg_env.__version__, prog_name="bg-env")
def main() -> None:
    """Backgammon for reinforcement learning: train agents, compare players, play, and work with positions and records."""


for command in (train, arena, errors, analyse, play, watch, plays, show, hint, rollout, replay, solve, bench, info):
    main.add_command(command)
