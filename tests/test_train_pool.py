"""Self-play against a pool of past selves: who plays, what it plays, and that a run with it can be stopped without a trace."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from cli_run import run as run_cli

torch = pytest.importorskip("torch", reason="training needs the extra bg_env[train]")
sb3_contrib = pytest.importorskip("sb3_contrib", reason="training needs the extra bg_env[train]")

import gymnasium  # noqa: E402 - after the libraries that it needs

import bg_env  # noqa: E402
from bg_env import Settings  # noqa: E402
from bg_env.errors import OrderError, SettingsError  # noqa: E402
from bg_env.observations import encoder  # noqa: E402
from bg_env.players.function import legal_masks  # noqa: E402
from bg_env.train.ppo import curve  # noqa: E402
from bg_env.train.ppo import run as ppo  # noqa: E402
from bg_env.train.ppo.opponent_pool import EVERY, NEWEST, SIZE, OpponentPool, actor_of  # noqa: E402
from bg_env.train.ppo.options import PpoOptions, choose_options  # noqa: E402
from bg_env.train.run_folder import RunFolder  # noqa: E402

SMALL = {"opponent": "self", "num_envs": 16, "games": 0}
ROLLOUT = 16 * ppo.ROLLOUT
CUBELESS = Settings(cube=False)


def net_of(seed, inputs=229, actions=150):
    """A net whose policy is far from even."""
    torch.manual_seed(seed)
    net = torch.nn.Sequential(torch.nn.Linear(inputs, 16), torch.nn.ReLU(), torch.nn.Linear(16, actions))
    with torch.no_grad():
        net[2].weight.mul_(5)
    return net.requires_grad_(requires_grad=False)


def pool_of(n=3, settings=CUBELESS, **how):
    nets = [net_of(k, encoder(how.get("observation", "tesauro")).size, settings.actions) for k in range(n)]
    pool = OpponentPool(nets[0], settings, **how)
    for k, net in enumerate(nets):
        pool.add(net, 100 * k)
    return pool, nets


def waiting(n=400, steps=30, **how):
    """States of games in progress, of many keys, with words of their own."""
    envs = gymnasium.make_vec("bg_env/Backgammon-v0", num_envs=n, opponent=None, autoreset_mode="same_step", **how)
    envs.reset(seed=5)
    for _ in range(steps):
        envs.step(envs.unwrapped.sample(np.random.default_rng(1)))
    states = envs.unwrapped.states.copy()
    return states, np.random.default_rng(2).integers(2**64, size=n, dtype=np.uint64)


def masks(states, settings):
    return legal_masks(states, settings.record(), settings.actions)


def chances(net, states, settings, observation="tesauro"):
    """The policy over the legal actions, by plain numpy."""
    view = encoder(observation).encode(states, settings.record()).reshape(len(states), -1)
    logits = np.where(masks(states, settings) == 1, net(torch.from_numpy(view)).numpy().astype(np.float64), -np.inf)
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


# Who plays


def test_the_newest_has_its_share_and_the_older_ones_share_the_rest():
    pool, _ = pool_of(5)
    states = np.zeros(40_000, bg_env.rules.STATE)
    states["key"] = np.random.default_rng(3).integers(2**64, size=len(states), dtype=np.uint64)
    assert pool.plays_older(states).mean() == pytest.approx(1 - NEWEST, abs=0.01)
    drawn = np.bincount([pool.draw(rollout) for rollout in range(4000)], minlength=5)
    assert drawn[4] == 0
    assert np.abs(drawn[:4] / 4000 - 0.25).max() < 0.03


@pytest.mark.parametrize("newest", [0.0, 1.0])
def test_a_share_of_nothing_or_all_is_kept(newest):
    pool, _ = pool_of(3, newest=newest)
    states, _ = waiting(cube=False)
    assert pool.plays_older(states).tolist() == [newest == 0] * len(states)


def test_an_episode_keeps_its_opponent_while_the_rollout_lasts():
    pool, _ = pool_of()
    states, _ = waiting(cube=False)
    older = pool.plays_older(states)
    states["rolls"] += 7
    assert (pool.plays_older(states) == older).all()
    assert 0 < older.sum() < len(states)


def test_the_draw_is_that_of_the_seed_and_the_rollout():
    one, other, same = (pool_of(20, seed=seed)[0] for seed in (1, 2, 1))
    draws = [[pool.draw(rollout) for rollout in range(30)] for pool in (one, other, same)]
    assert draws[0] == draws[2] != draws[1]
    assert one.draw(7) == draws[0][7]


def test_one_snapshot_plays_alone_and_none_is_told_of():
    pool, _ = pool_of(1)
    states, words = waiting(cube=False)
    with pytest.raises(OrderError, match=r"draw\(\) chooses the snapshots"):
        pool.choose(states, words)
    assert pool.draw(0) == 0
    with pytest.raises(OrderError, match=r"the pool is empty: add\(\)"):
        OpponentPool(net_of(1), CUBELESS).draw(0)
    for wrong in ({"size": 0}, {"newest": 1.5}):
        with pytest.raises(SettingsError, match="a pool's size is at least 1"):
            OpponentPool(net_of(1), CUBELESS, **wrong)


def test_the_oldest_goes():
    pool, nets = pool_of(6, size=4, newest=0.0)
    assert pool.steps == [200, 300, 400, 500]
    assert len(pool) == 4
    states, words = waiting(cube=False)
    place = pool.draw(3)
    fresh = OpponentPool(nets[0], CUBELESS)
    fresh.add(nets[2 + place], 0)
    fresh.draw(0)
    assert (pool.choose(states, words) == fresh.choose(states, words)).all()


# What it plays


@pytest.mark.parametrize(("name", "observation"), [("cubeless", "tesauro"), ("cube", "counts"), ("cube", "planes")])
def test_choices_are_legal_and_those_of_the_snapshot(name, observation):
    settings = Settings(cube=name == "cube")
    pool, nets = pool_of(3, settings, observation=observation)
    states, words = waiting(cube=settings.cube)
    place = pool.draw(11)
    actions = pool.choose(states, words)
    assert actions.dtype == np.int64
    assert (masks(states, settings)[np.arange(len(states)), actions] == 1).all()
    older = pool.plays_older(states)
    for net, part in ((nets[-1], ~older), (nets[place], older)):
        ends = chances(net, states[part], settings, observation).cumsum(axis=1)
        wanted = (ends <= (words[part] >> np.uint64(11))[:, None] * 2.0**-53 * ends[:, -1:]).sum(axis=1)
        assert (wanted == actions[part]).mean() > 0.99  # sums of float32 differ at the edges


def test_over_many_words_an_action_is_as_frequent_as_the_policy_says():
    pool, nets = pool_of(1)
    pool.draw(0)
    states, _ = waiting(8, cube=False)
    for i in range(8):
        many = np.repeat(states[i : i + 1], 20_000)
        actions = pool.choose(many, np.random.default_rng(i).integers(2**64, size=len(many), dtype=np.uint64))
        wanted = chances(nets[0], states[i : i + 1], CUBELESS)[0]
        assert np.abs(np.bincount(actions, minlength=150) / len(many) - wanted).max() < 0.02


def test_the_extreme_words_are_legal_too():
    pool, _ = pool_of()
    pool.draw(2)
    states, words = waiting(cube=False)
    mask = masks(states, CUBELESS)
    for word in (0, 1, 2**64 - 1, 2**63, 2**11 - 1):
        words[:] = word
        assert (mask[np.arange(len(states)), pool.choose(states, words)] == 1).all()


def test_a_choice_is_the_same_in_any_batch():
    pool, _ = pool_of()
    pool.draw(2)
    states, words = waiting(200, cube=False)
    together = pool.choose(states, words)
    alone = [int(pool.choose(states[i : i + 1], words[i : i + 1])[0]) for i in range(200)]
    assert (together == alone).mean() > 0.98  # sums of float32 differ at the edges


def test_the_learner_goes_on_without_changing_its_past():
    options = PpoOptions(steps=1, **SMALL)
    model = ppo.make_model(options)
    pool = OpponentPool(actor_of(model.policy), CUBELESS)
    pool.add(actor_of(model.policy), 0)
    pool.draw(0)
    states, words = waiting(cube=False)
    before = pool.choose(states, words)
    view = encoder("tesauro").encode(states, CUBELESS.record())
    with torch.no_grad():
        seen = torch.from_numpy(view)
        policy = model.policy.get_distribution(seen, action_masks=masks(states, CUBELESS)).distribution
        mine = actor_of(model.policy)(seen)
        assert torch.allclose(torch.where(policy.masks, mine, -1e8).log_softmax(dim=1), policy.logits, atol=1e-5)
        for part in model.policy.parameters():
            part.add_(torch.randn_like(part))
    assert (pool.choose(states, words) == before).all()


def test_it_plays_in_every_environment_as_an_opponent():
    for settings, name in (
        (CUBELESS, "BackgammonCubeless"),
        (Settings("acey_deucey"), "AceyDeucey"),
        (Settings(), "Backgammon"),
    ):
        pool, _ = pool_of(2, settings)
        pool.draw(0)
        envs = gymnasium.make_vec(f"bg_env/{name}-v0", num_envs=50, opponent=pool, autoreset_mode="same_step")
        envs.reset(seed=1)
        for _ in range(60):
            envs.step(envs.unwrapped.sample(np.random.default_rng(1)))
        result = bg_env.arena.play(pool, "random", games=20, seed=1, settings=settings)
        assert (result.episodes, result.sides[0].name) == (20, "self")


# The file


def test_a_pool_reads_back():
    pool, nets = pool_of(5)
    file = io.BytesIO()
    pool.dump(file)
    other = OpponentPool(nets[0], CUBELESS)
    other.restore(io.BytesIO(file.getvalue()), until=10**9)
    assert other.steps == pool.steps
    states, words = waiting(cube=False)
    assert pool.draw(3) == other.draw(3)
    assert (pool.choose(states, words) == other.choose(states, words)).all()
    other.restore(io.BytesIO(file.getvalue()), until=250)
    assert other.steps == [0, 100, 200]
    with pytest.raises(OrderError):
        other.choose(states, words)


def test_another_file_is_no_pool():
    pool, _ = pool_of()
    file = io.BytesIO()
    pool.dump(file)
    with pytest.raises(SettingsError, match="not the pool of such a net"):
        OpponentPool(net_of(1, actions=154), Settings()).restore(io.BytesIO(file.getvalue()), until=0)
    other = io.BytesIO()
    np.savez(other, x=np.zeros(3))
    for data in (other.getvalue(), b"nonsense"):
        with pytest.raises(SettingsError, match="pool of a training run"):
            pool.restore(io.BytesIO(data), until=0)


# A run


def run(path, options, **how):
    return ppo.train(options, RunFolder(path, **how), resume=how.get("resume", False), progress=False)


def weights(path):
    model = sb3_contrib.MaskablePPO.load(path / "model.zip", device="cpu")
    return {name: value.numpy().copy() for name, value in model.policy.state_dict().items()}


def columns(path):
    """The curve but its clock."""
    with (path / "curve.csv").open(newline="") as file:
        return [{name: value for name, value in row.items() if name != "seconds"} for row in csv.DictReader(file)]


def pool_in(path):
    with np.load(path / "pool.npz") as kept:
        return kept["steps"], kept["weights"]


def same_run(one, other):
    first, second = weights(one), weights(other)
    assert columns(one) == columns(other)
    assert all((first[name] == second[name]).all() for name in first)
    assert all((a == b).all() for a, b in zip(pool_in(one), pool_in(other), strict=True))


def test_the_same_seed_gives_the_same_curve_and_another_another(tmp_path):
    options = PpoOptions(steps=(EVERY + 1) * ROLLOUT, seed=3, **SMALL)
    run(tmp_path / "a", options)
    run(tmp_path / "b", options)
    run(tmp_path / "c", PpoOptions(steps=(EVERY + 1) * ROLLOUT, seed=4, **SMALL))
    same_run(tmp_path / "a", tmp_path / "b")
    assert columns(tmp_path / "a") != columns(tmp_path / "c")
    assert pool_in(tmp_path / "a")[0].tolist() == [0, EVERY * ROLLOUT]


def test_a_run_resumed_is_as_one_that_was_never_stopped(tmp_path):
    evaluated = {"evaluate": ("random", "pubeval"), "evaluate_every": 3, "games": 4}
    options = SMALL | evaluated
    total = 2 * EVERY + 2
    run(tmp_path / "whole", PpoOptions(steps=total * ROLLOUT, **options))
    run(tmp_path / "parts", PpoOptions(steps=(EVERY + 1) * ROLLOUT, **options))
    torch.manual_seed(99)
    np.random.seed(99)  # noqa: NPY002 - what SB3 draws from
    folder = RunFolder(tmp_path / "parts", resume=True)
    again = choose_options(folder, steps=(total - EVERY - 1) * ROLLOUT)
    assert (again.opponent, again.evaluate, again.evaluate_every) == ("self", ("random", "pubeval"), 3)
    outcome = ppo.train(again, folder, resume=True, progress=False)
    assert outcome.steps == total * ROLLOUT
    same_run(tmp_path / "whole", tmp_path / "parts")
    rows = curve.read_curve(tmp_path / "parts" / "curve.csv")
    assert [[who for who, _ in row.evaluated] for row in rows] == [
        ["random", "pubeval"] if number % 3 == 0 else [] for number in range(1, total + 1)
    ]


def test_a_killed_run_goes_on_from_what_was_kept(tmp_path):
    """Killed between two files, the pool is ahead of the model: what the model has not reached yet is left out."""
    run(tmp_path / "whole", PpoOptions(steps=(EVERY + 2) * ROLLOUT, **SMALL))
    run(tmp_path / "parts", PpoOptions(steps=(EVERY - 1) * ROLLOUT, **SMALL))
    (tmp_path / "parts" / "pool.npz").write_bytes((tmp_path / "whole" / "pool.npz").read_bytes())
    run(tmp_path / "parts", PpoOptions(steps=3 * ROLLOUT, **SMALL), resume=True)
    same_run(tmp_path / "whole", tmp_path / "parts")


def test_the_pool_is_kept_small(tmp_path, monkeypatch):
    monkeypatch.setattr(ppo, "EVERY", 1)
    outcome = run(tmp_path, PpoOptions(opponent="self", steps=(SIZE + 3) * ppo.ROLLOUT, num_envs=1, games=0))
    assert outcome.steps == (SIZE + 3) * ppo.ROLLOUT
    steps, kept = pool_in(tmp_path)
    assert steps.tolist() == [ppo.ROLLOUT * k for k in range(3, SIZE + 3)]
    assert kept.dtype == np.float32


def test_a_run_against_another_goes_on_by_self_play(tmp_path):
    run(tmp_path, PpoOptions(opponent="random", num_envs=16, games=0, steps=ROLLOUT))
    assert not (tmp_path / "pool.npz").exists()
    folder = RunFolder(tmp_path, resume=True)
    ppo.train(choose_options(folder, opponent="self", steps=ROLLOUT), folder, resume=True, progress=False)
    assert pool_in(tmp_path)[0].tolist() == [ROLLOUT]


def test_a_damaged_pool_is_told_in_one_line(tmp_path):
    run(tmp_path, PpoOptions(steps=ROLLOUT, **SMALL))
    (tmp_path / "pool.npz").write_bytes(b"nonsense")
    with pytest.raises(SettingsError, match="pool of a training run"):
        run(tmp_path, PpoOptions(steps=ROLLOUT, **SMALL), resume=True)


def test_self_play_learns_and_its_evaluation_shows_it(tmp_path):
    options = PpoOptions(opponent="self", steps=160_000, seed=2, evaluate=("random",), evaluate_every=5, games=400)
    outcome = run(tmp_path, options)
    assert outcome.scores["trained"].points.low > outcome.scores["untrained"].points.high
    rows = [row for row in curve.read_curve(tmp_path / "curve.csv") if row.evaluated]
    assert [row.steps for row in rows] == [81_920, 163_840]
    assert rows[-1].evaluated[0][1].value == pytest.approx(outcome.scores["trained"].points.value, abs=1e-5)
    assert "against random" in ppo.score_table(outcome.scores, options).splitlines()[0]
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    notes = json.loads((tmp_path / "run.json").read_text())
    assert (notes["options"]["opponent"], notes["options"]["evaluate"]) == ("self", ["random"])


@pytest.mark.parametrize("name", ["bg_env/BackgammonMatch-v0", "bg_env/AceyDeucey-v0"])
def test_other_ids_can_be_learnt_by_self_play(tmp_path, name):
    outcome = run(tmp_path, PpoOptions(id=name, opponent="self", steps=ROLLOUT, num_envs=16, games=4))
    assert outcome.scores["trained"].episodes == 4
    assert outcome.scores["trained"].sides[1].name == "random"


# What is asked for


def test_the_evaluation_is_checked():
    with pytest.raises(SettingsError, match="no player is called 'bob'"):
        PpoOptions(evaluate=("bob",))
    with pytest.raises(SettingsError, match="no player is called 'self'"):
        PpoOptions(evaluate=("self",))
    with pytest.raises(SettingsError, match="to evaluate the net against pubeval, games must not be 0"):
        PpoOptions(evaluate=("pubeval",), games=0)
    with pytest.raises(SettingsError, match="evaluate_every is a whole number of at least 1, not 0"):
        PpoOptions(evaluate_every=0)


def test_the_player_of_the_evaluation_games():
    assert PpoOptions().evaluated_against == "random"
    assert PpoOptions(opponent="pubeval", evaluate=("random",)).evaluated_against == "pubeval"
    assert PpoOptions(opponent="self").evaluated_against == "random"
    assert PpoOptions(opponent="self", evaluate=("pubeval", "random")).evaluated_against == "pubeval"


def test_evaluations_read_back(tmp_path):
    estimates = bg_env.arena.Estimate(0.5, 0.25, 0.75), bg_env.arena.Estimate(-1.0, -1.5, -0.5)
    plain = (1.5, 4, 3, -2.0, 1.0, 0.002, 0.5)
    rows = [
        curve.Row(10, *plain, (("pubeval", estimates[0]),)),
        curve.Row(20, *plain),
        curve.Row(30, *plain, (("pubeval", estimates[1]), ("sb3:a, b.zip", estimates[0]))),
    ]
    for given in (rows, rows[1:2], []):
        with (tmp_path / "c.csv").open("wb") as file:
            curve.write_curve(file, given)
        assert curve.read_curve(tmp_path / "c.csv") == given
    with (tmp_path / "c.png").open("wb") as file:
        curve.draw_curve(file, rows, "title", before=(estimates[0], estimates[0]), against="pubeval")
    (tmp_path / "c.csv").write_text((tmp_path / "c.csv").read_text().replace("explained", "explained,pubeval"))
    with pytest.raises(SettingsError, match="is not the curve of a training run"):
        curve.read_curve(tmp_path / "c.csv")


def test_self_play_from_the_command_line(tmp_path):
    words = ["train", "--steps", "128", "--num-envs", "2", "--games", "4", "--quiet", "--out", str(tmp_path)]
    asked = ["--opponent", "self", "--measure", "pubeval", "--measure", "random", "--measure-every", "1"]
    result = run_cli(*words, *asked)
    assert result.exit_code == 0, result.stderr
    assert "4 evaluation games against pubeval, 2 from each seat" in result.stdout
    head = (tmp_path / "curve.csv").read_text().splitlines()[0]
    assert head.endswith("explained,pubeval,pubeval low,pubeval high,random,random low,random high")
    for content in (b"", b"rubbish", b"PK\x03\x04rubbish"):
        (tmp_path / "pool.npz").write_bytes(content)
        result = run_cli(*words, "--resume")
        assert result.exit_code == 2
        assert len(result.stderr.splitlines()) == 1
