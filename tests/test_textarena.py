"""bg_env as a game of TextArena: its own wrappers, good and bad replies, its rewards."""

from __future__ import annotations

import json
import random
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bg_env import Game, Phase, SettingsError

ta = pytest.importorskip("textarena", reason="needs the extra bg_env[textarena]")

from bg_env.adapters.textarena import IDS, TextArenaEnv  # noqa: E402 - after the check that it can be imported


def choice(text, rng):
    line = [line for line in text.splitlines() if line.startswith("Legal (")][-1]
    return rng.choice(line.split(": ", 1)[1].rstrip(".").split("; "))


def test_every_id_is_made_with_its_variant():
    for name, variant in IDS.items():
        for version in ("", "-history", "-raw"):
            assert ta.make(name + version).settings.variant.name == variant


@pytest.mark.parametrize("version", ["", "-history"])
def test_a_game_to_its_end(version):
    rng = random.Random(3)
    env = ta.make(f"bg_env/Hypergammon-v0{version}", legal=True)
    env.reset(num_players=2, seed=5)
    twin = Game("hypergammon", seed=5)
    done = False
    while not done:
        player, text = env.get_observation()
        assert player == twin.player
        assert f"You are {('White', 'Black')[player]}." in text
        assert text.count("Legal (") >= 1
        reply = choice(text, rng)
        twin.play(reply)
        done, _ = env.step(action=f"I think.\nMove: {reply}")
    rewards, info = env.close()
    outcome = twin.outcome
    assert rewards == {outcome.winner: 1, 1 - outcome.winner: -1}
    assert info[outcome.winner]["points"] == outcome.points == -info[1 - outcome.winner]["points"]
    assert info[0]["reason"] == str(outcome)
    assert not info[0]["invalid_move"]


def test_a_refused_reply_comes_back_with_its_reason_and_three_in_a_row_lose():
    env = ta.make("bg_env/Backgammon-v0", legal=True, error_allowance=2, cube=False)
    env.reset(num_players=2, seed=1)
    player, text = env.get_observation()
    env.step(action="I pass")
    assert env.get_observation()[0] == player
    _, text = env.get_observation()
    assert "Your reply was refused: you cannot pass" in text
    done, _ = env.step(action=choice(text, random.Random(1)))
    assert not done
    for k in range(3):
        loser, _ = env.get_observation()
        done, _ = env.step(action="Move: 1/24")
        assert done == (k == 2)
    rewards, info = env.close()
    assert rewards == {loser: -1, 1 - loser: 1}
    assert info[loser]["invalid_move"]
    assert "goes up" in info[0]["reason"]


def test_brackets_cube_and_match():
    env = TextArenaEnv(match_length=3, legal=True)
    env.reset(seed=4)
    while env.game.phase != Phase.ROLL_OR_DOUBLE:
        _, messages = env.get_observation()
        env.step(action=f"[{choice(messages[-1][1], random.Random(1))}]")
    doubler, _ = env.get_observation()
    env.step(action="[double]")
    player, messages = env.get_observation()
    assert player == 1 - doubler
    assert "Your opponent has turned the cube to 2." in messages[-1][1]
    env.step(action="take")
    assert env.game.cube == 2
    assert env.game.cube_owner == player


@pytest.mark.parametrize(
    ("options", "part"),
    [({"legal": "x"}, "legal"), ({"error_allowance": -1}, "error_allowance"), ({"cub": True}, "cub"), ({"board": 3}, "board")],
)
def test_bad_options(options, part):
    with pytest.raises(SettingsError, match=part):
        TextArenaEnv(**options)
    with pytest.raises(SettingsError, match="num_players"):
        TextArenaEnv().reset(num_players=3)


def test_the_agent_of_a_model_plays(monkeypatch):
    """TextArena's own agent against an endpoint of OpenAI's kind, here with scripted replies."""

    class Endpoint(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            message = {"role": "assistant", "content": f"Move: {choice(asked['messages'][-1]['content'], random.Random(1))}"}
            whole = {"id": "x", "object": "chat.completion", "created": 0, "model": "m"}
            body = json.dumps(whole | {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    agent = ta.agents.OpenAIAgent("m", api_key="none", base_url=f"http://127.0.0.1:{server.server_port}/v1")
    env = ta.make("bg_env/Hypergammon-v0", legal=True)
    env.reset(num_players=2, seed=2)
    for _ in range(4):
        _, text = env.get_observation()
        reply = agent(text)
        done, _ = env.step(action=reply)
        assert not done
    server.shutdown()
    server.server_close()
    agent.client.close()
