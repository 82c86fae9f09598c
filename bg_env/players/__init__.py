"""Players: the protocol, and opponents by name.

Some names take an argument after a colon: `player("td:1", settings)`. Every environment, the arena and the command line
accept these names.

| name | player |
|---|---|
| random | chooses legal actions uniformly at random; never doubles, always takes |
| pubeval | Gerald Tesauro's public evaluator of 1993; never doubles, always takes |
| td | the value net shipped with the package, greedy; `td:1` looks one roll ahead |
| td-cube | a second shipped net, which learnt cube decisions for money play together with checker play |
| greedy:FILE | a value net from a file (.npz, as `ValueNet.save` writes it), greedy |
| expectimax:FILE | the same with one roll of look-ahead |
| exact:FILE | perfect play by a file of `bg-env solve` |
| sb3:FILE | a Stable-Baselines3 or sb3-contrib model (.zip); needs `bg_env[sb3]` |
| gnubg | GNU Backgammon's nets; `gnubg:1` to `gnubg:3` look ahead; needs `gnubg-nn` |

Player objects are accepted in the same places: `ValuePlayer(net, plies=1)`, `FunctionPlayer(function)`, `ModelPlayer(model)`,
`GnubgPlayer()`, or any object with the methods of `Player` or `PlayPlayer`.
"""

from bg_env.players.function import FunctionPlayer
from bg_env.players.gnubg import GnubgPlayer
from bg_env.players.names import PLAYERS, Named, player, player_for
from bg_env.players.protocol import FORFEIT, Choices, Player, PlayPlayer, ask, bound
from bg_env.players.pubeval import PubevalPlayer
from bg_env.players.random import RandomPlayer
from bg_env.players.sb3 import ModelPlayer
from bg_env.players.valuenet.net import ValueNet
from bg_env.players.valuenet.player import ValuePlayer

__all__ = [
    "FORFEIT",
    "PLAYERS",
    "Choices",
    "FunctionPlayer",
    "GnubgPlayer",
    "ModelPlayer",
    "Named",
    "PlayPlayer",
    "Player",
    "PubevalPlayer",
    "RandomPlayer",
    "ValueNet",
    "ValuePlayer",
    "ask",
    "bound",
    "player",
    "player_for",
]
