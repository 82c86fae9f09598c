"""The examples that there must be: of every library and kind of learner one, and what shows that it is that one."""

from __future__ import annotations

EXAMPLES = {
    "Stable-Baselines3 / sb3-contrib, one game": ("sb3_single.py", [r"gymnasium\.make\(", r"MaskablePPO\("]),
    "Stable-Baselines3 / sb3-contrib, self-play with a pool of past selves": (
        "sb3_selfplay.py",
        [r"OpponentPool\(", r"make_sb3\("],
    ),
    "Stable-Baselines3 / sb3-contrib, native batch": ("train_maskable_ppo.py", [r"make_sb3\(", r"MaskablePPO\("]),
    "RLlib, self-play of two agents with an action-masking module": (
        "rllib_selfplay.py",
        [r"SelfPlayEnv", r"\.multi_agent\(", r"ActionMaskingTorchRLModule"],
    ),
    "RLlib, native batch": ("rllib_selfplay.py", [r"vector_entry_point", r'register_env\("bg_env", native\)']),
    "RLlib on Ray, many machines": ("rllib_cluster.py", [r"ray\.init\("]),
    "TorchRL": ("torchrl_ppo.py", [r"GymWrapper\(", r"MaskedCategorical"]),
    "Tianshou": ("tianshou_dqn.py", [r"DiscreteQLearningPolicy\(", r"Collector\("]),
    "AgileRL": ("agilerl_ppo.py", [r"collect_rollouts\(", r"action_mask="]),
    "CleanRL's manner: masked PPO by self-play in one file": (
        "cleanrl_ppo_selfplay.py",
        [r'"opponent": None', r"def advantages\("],
    ),
    "OpenSpiel, MCTS": ("openspiel_mcts.py", [r"mcts\.MCTSBot\(", r"BotPlayer\("]),
    "OpenSpiel, a learner": ("openspiel_dqn.py", [r"dqn\.DQN\(", r"load_game\("]),
    "TextArena": ("textarena_game.py", [r"ta\.make\(", r"OpenAIAgent\("]),
    "verifiers": ("verifiers_game.py", [r"GamesTaskset", r"vf\.load_environment\("]),
    "skrl": ("skrl_ppo.py", [r"wrap_env\(", r"masked_fill"]),
    "temporal differences by self-play": ("td_selfplay.py", [r"TDLearner\("]),
    "a learner on a solved game, against the truth": ("hypergammon_td.py", [r"exact\.solve\(", r"\.exploitability\("]),
}
"""By description: the example, and regular expressions that its text must match."""
