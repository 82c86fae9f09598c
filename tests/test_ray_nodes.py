"""A cluster of Ray with two nodes on this machine: the example on its address, and a node lost in the middle of games."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

pytest.importorskip("ray.rllib", reason="needs the extra bg_env[rllib]")

import ray
from ray.cluster_utils import Cluster
from test_examples import EXAMPLES

from bg_env import Settings, arena
from bg_env.arena.on_ray import play_on_ray

pytestmark = pytest.mark.filterwarnings("default")  # Ray warns by itself
CUBELESS = Settings(cube=False)


def test_the_example_runs_on_the_address_of_a_cluster_that_loses_a_machine(tmp_path):
    """Two nodes, each with processes of its own; the example is told nothing but the address."""
    store = {"object_store_memory": 10**8, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, **store})
    try:
        other = cluster.add_node(num_cpus=1, object_store_memory=10**8)
        command = [sys.executable, str(EXAMPLES / "rllib_cluster.py"), "--address", cluster.address, "--algorithm", "td"]
        path = os.pathsep.join([str(EXAMPLES.parent), os.environ.get("PYTHONPATH", "")])
        env = os.environ | {"PYTHONPATH": path}
        told = []
        for more in ([], ["--resume"]):
            run = [*command, "--smoke", "--out", "run", *more]
            done = subprocess.run(run, cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=300)
            assert done.returncode == 0, done.stderr
            told.append(done.stdout)
        assert all("learner v random, 20 games" in text for text in told)
        assert {path.name for path in (tmp_path / "run").glob("check*")} == {"checkpoint_00000002", "checkpoint_00000004"}
        assert len((tmp_path / "run" / "curve.csv").read_text().splitlines()) == 3, "a head, and a line for each call"
        ray.init(address=cluster.address, log_to_driver=False)
        told, left = [], []

        def progress(games):
            told.append(games)
            if len(told) == 1:
                threading.Thread(
                    target=lambda: left.append(cluster.remove_node(other, allow_graceful=False) or sum(told))
                ).start()

        how = {"games": 6000, "seed": 3, "settings": CUBELESS}
        result = play_on_ray("td", "pubeval", tasks=60, retries=-1, progress=progress, **how)
        assert left
        assert left[0] < 6000, "the node was lost when all was over"
        assert result == arena.play("td", "pubeval", **how)
    finally:
        ray.shutdown()
        cluster.shutdown()
