"""`bg-env train`: the group of learners."""

from __future__ import annotations

from typing import Any

import click

from bg_env.cli.train_ppo import ppo
from bg_env.cli.train_td import td

__all__ = ["train"]


class _Learners(click.Group):
    """A group whose command may be left out: it is then `ppo`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line; see `click.Command.parse_args`."""
        return super().parse_args(ctx, self.with_command(args))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a learner; see `click.Command.invoke`."""
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            for name, command in self.commands.items():
                if any(error.option_name in (*option.opts, *option.secondary_opts) for option in command.params):
                    msg = f"{error.option_name} is an option of bg-env train {name}"
                    raise click.UsageError(msg, error.ctx) from error
            raise

    def with_command(self, args: list[str]) -> list[str]:
        """The arguments with the learner's name first, unless they ask for help or name a learner already."""
        if args and (not args[0].startswith("-") or args[0] in ("-h", "--help")):
            return args
        rest, learner = self._without_algorithm(args)
        return [learner, *rest]

    def _without_algorithm(self, args: list[str]) -> tuple[list[str], str]:
        """The arguments without version 0.1's `--algorithm NAME`, and the learner that it names."""
        rest, words, learner = [], iter(args), ""
        for word in words:
            if word == "--algorithm" or word.startswith("--algorithm="):
                learner = word.partition("=")[2] or next(words, "")
            else:
                rest.append(word)
        if not learner:
            return rest, "ppo"
        if learner not in self.commands:
            msg = f"no learner is called {learner!r}: choose from {', '.join(self.commands)}"
            raise click.UsageError(msg)
        click.echo(f"bg-env train: --algorithm will be removed in version 0.3: write bg-env train {learner} instead", err=True)
        return rest, learner


@click.group(
    cls=_Learners,
    commands={"ppo": ppo, "td": td},
    short_help="Train an agent and evaluate it.",
    options_metavar="",
    subcommand_metavar="[ppo|td] [OPTIONS]",
)
def train() -> None:
    """Train an agent and evaluate it.

    The learner is ppo unless its name is given. Each learner has its own options and its own --help.
    """
