"""Variables that a cluster leaves in the environment: they mean something only all together."""

import pytest
import torch

from albert_edu.errors import RunError
from albert_edu.training.workers import Workers, is_main_worker, pick_device

TORCHRUN = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    for name in TORCHRUN:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    "found", [{"RANK": "3"}, {"RANK": "3", "WORLD_SIZE": "1"}, {"RANK": "3", "WORLD_SIZE": ""}]
)
def test_a_rank_alone_makes_no_worker_of_a_run(found, monkeypatch):
    for name, value in (found | {"LOCAL_RANK": "3"}).items():
        monkeypatch.setenv(name, value)
    assert is_main_worker() and Workers.join(torch.device("cpu")) == Workers(0, 1)
    with pytest.raises(ValueError, match="no device 'cuda:0'"):
        pick_device("cuda")


def test_of_several_workers_the_one_of_rank_0_is_the_main_one(monkeypatch):
    for name, value in {"WORLD_SIZE": "4", "MASTER_ADDR": "here", "MASTER_PORT": "1"}.items():
        monkeypatch.setenv(name, value)
    for rank in (0, 3):
        monkeypatch.setenv("RANK", str(rank))
        assert is_main_worker() == (rank == 0)


def test_a_part_of_what_torchrun_sets_is_told_with_the_rest_and_so_is_what_is_no_number(
    monkeypatch,
):
    monkeypatch.setenv("WORLD_SIZE", "4")
    with pytest.raises(RunError, match="WORLD_SIZE=4, but no RANK, MASTER_ADDR, MASTER_PORT: st"):
        Workers.join(torch.device("cpu"))
    monkeypatch.setenv("WORLD_SIZE", "four")
    with pytest.raises(
        RunError, match="WORLD_SIZE=four, which is no whole number of 0 or more: unset it"
    ):
        is_main_worker()
