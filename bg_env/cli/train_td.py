"""`bg-env train td`: a value net by temporal differences in self-play."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from bg_env.cli.params import go_on, interrupted_at_once, option_name, options_of, tensorboard_option
from bg_env.errors import SettingsError, printable
from bg_env.players import ValueNet
from bg_env.train.events import writer_class
from bg_env.train.setting import Setting, settings_of_class
from bg_env.train.td.settings import TDSettings

__all__ = ["td"]

_SETTINGS: Final = settings_of_class(TDSettings)
_SESSION: Final = {
    "minutes": Setting(
        "Minutes to train for, over all sessions; the learning rate then falls with the time.", float, low=0, above=True
    ),
    "threads": Setting("Threads that play.", int, low=1, shown_default="2"),
    "games": Setting("Games of each evaluation against pubeval.", int, low=4, even=True, shown_default="1000"),
}


@click.command(short_help="A value net by temporal differences in self-play.")
@options_of({**_SETTINGS, **_SESSION})
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("runs", "td"),
    show_default=True,
    help="Folder of the run: its net, its curve, and all that --resume needs.",
)
@click.option("--resume", is_flag=True, help="Continue the run in the folder, under its own settings.")
@click.option("--overwrite", is_flag=True, help="Replace the run in the folder.")
@tensorboard_option
@click.option("--quiet", is_flag=True, help="Show no progress bar.")
def td(out: Path, resume: bool, overwrite: bool, tensorboard: bool | None, quiet: bool, **given: Any) -> int:
    """Train a value net by TD(lambda) in self-play, as TD-Gammon was, and evaluate it against pubeval.

    The folder gets run.npz, the checkpoint with everything that --resume needs, and copies of its parts: net.npz, the net
    (which plays as "greedy:FILE"), and curve.csv, the strength against pubeval over time; also event files for TensorBoard.

    Ctrl-C or SIGTERM ends the training and keeps what was learnt; --resume continues it, also after a kill.

    With the same --seed and no --minutes, a machine plays the same games and learns the same net, also if the run was stopped
    and resumed; with --minutes, how far it gets depends on the clock.
    """
    asked = {name: value for name, value in given.items() if value is not None}
    settings = _settings({name: value for name, value in asked.items() if name in _SETTINGS}, resume=resume)
    from bg_env.train.td.run import TDFolder, train_td  # slow: it imports PyTorch

    if tensorboard:
        writer_class(tensorboard)  # raises where it is not installed
    if settings.start:
        ValueNet.load(settings.start)  # raises where it is not a net
    folder = TDFolder(out, overwrite=overwrite, resume=resume)
    session = {{"games": "evaluation_games"}.get(name, name): value for name, value in asked.items() if name in _SESSION}
    try:
        outcome = train_td(folder, settings, resume=resume, progress=not quiet, tensorboard=tensorboard, **session)
    except KeyboardInterrupt:
        return interrupted_at_once(folder)
    strength, interval = outcome.pubeval
    spent = f"{outcome.games:,} games of self-play in {outcome.seconds / 60:.1f} minutes"
    click.echo(
        f"{'Interrupted' if outcome.interrupted else 'Trained'} after {spent}; "
        f"{strength:+.3f} ± {interval:.3f} points a game against pubeval: {printable(str(outcome.folder / 'net.npz'))}"
    )
    if outcome.interrupted:
        go_on("To continue", "train", "td", "--resume", "--out", outcome.folder)
        return 130
    go_on("To compare it with another player", "arena", outcome.folder, "pubeval")
    return 0


def _settings(asked: dict[str, Any], *, resume: bool) -> TDSettings:
    """The settings of a new run; those of a resumed run are in its folder.

    Raises:
        SettingsError: options contradict each other, or the run is resumed.
    """
    if resume and asked:
        names = ", ".join(option_name(name, _SETTINGS[name]) for name in asked)
        msg = f"{names} cannot be changed with --resume: a run keeps its settings"
        raise SettingsError(msg)
    if "exact_from" in asked and asked.get("targets") != "rolls":
        msg = "--exact-from needs --targets rolls"
        raise SettingsError(msg)
    if asked.get("match_length"):
        asked.setdefault("cube", True)
    return TDSettings(**asked)
