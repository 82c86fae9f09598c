"""Players: the protocol, and opponents by name.

A name may go on after a colon: `player("td:1", settings)`. Every environment, the arena and the command line take these names.

| name | who it is |
|---|---|
| random | plays at random among the legal actions; never turns the cube, always takes |
| pubeval | Gerald Tesauro's public evaluator of 1993; knows no cube |
| td | the value net shipped with the package, greedy; `td:1` looks one roll ahead |
| td-cube | another such net, which has learnt the cube in money play along with the plays |
| greedy:FILE | a value net (.npz, as `ValueNet.save` writes it), greedy |
| expectimax:FILE | the same with one roll of look-ahead |
| sb3:FILE | a model of Stable-Baselines3 or sb3-contrib (.zip); needs `bg_env[sb3]` |
| gnubg | GNU Backgammon's nets; `gnubg:1` to `gnubg:3` look ahead; needs `gnubg-nn` |

Objects do as well: `ValuePlayer(net, plies=1)`, `FunctionPlayer(function)`, `ModelPlayer(model)`, `GnubgPlayer()`, or
anything with the methods of `Player` or `PlayPlayer`.
"""

from bg_env.players.gnubg import GnubgPlayer
from bg_env.players.models import FunctionPlayer, ModelPlayer
from bg_env.players.names import PLAYERS, Named, player
from bg_env.players.protocol import Player, PlayPlayer, bound
from bg_env.players.pubeval import PubevalPlayer
from bg_env.players.random import RandomPlayer
from bg_env.players.valuenet.net import ValueNet
from bg_env.players.valuenet.player import ValuePlayer

__all__ = [
    "PLAYERS",
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
    "bound",
    "player",
]
