"""Backgammon for agents that read and write text: prompts, tolerant parsing of replies, an environment and a player.

    game = bg_env.Game("backgammon", seed=1)
    text = bg_env.text.prompt(game)
    reply = bg_env.text.parse_reply(game, "I make my five point: 8/5, 6/5")
    print(reply.text if reply.legal else reply.reason)

A reply is a whole play, a checker step or a cube decision, in nearly any notation.
"""

from bg_env.text.env import TextEnv
from bg_env.text.player import Counts, TextPlayer, again
from bg_env.text.prompts import instructions, prompt, reply_format
from bg_env.text.reply import Reply, parse_reply

__all__ = ["Counts", "Reply", "TextEnv", "TextPlayer", "again", "instructions", "parse_reply", "prompt", "reply_format"]
