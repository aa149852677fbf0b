"""Where training runs: the device, and the other workers that torchrun started (notebook 07)."""

import atexit
import os
import platform
import re
from pathlib import Path
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn

from albert_edu.config import whole_from_environment
from albert_edu.errors import InputError, RunError


def pick_device(name: str | torch.device | None = "auto") -> torch.device:
    """Return the device of that name; ``auto`` is a CUDA GPU if there is one, else the CPU.

    Each worker of torchrun has a GPU of its own. Raises InputError for a device on which torch
    cannot compute in float64, in which losses are added up: Apple's MPS is one.
    """
    if name is None or name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if str(name) == "cuda":
        name = f"cuda:{torchrun_number('LOCAL_RANK', 0) if process_count() > 1 else 0}"
    try:
        torch.zeros(1, dtype=torch.float64, device=name).item()
    except Exception as error:  # each kind of device has errors of its own
        raise InputError(
            f"there is no device '{name}' on which torch {torch.__version__} computes in float64. "
            f"Give cpu or cuda, and to torchrun at most as many workers as there are cards."
        ) from error
    return torch.device(name)


class Workers(NamedTuple):
    """Which of how many workers this process is; a run without torchrun has one.

    The one of rank 0, the main worker, writes files and shows progress.
    """

    rank: int = 0
    world_size: int = 1

    @classmethod
    def join(cls, device: torch.device) -> "Workers":
        """Join the group that torchrun describes in the environment: NCCL on GPUs, gloo on CPUs.

        The group lasts until the process ends, because the next run of the process needs it again.
        A group that torchrun restarts has a part of the agent's store to itself. In the part of the
        group before it, gloo would find the addresses of the dead, and wait for them for ever.
        """
        if process_count() <= 1:
            return cls()
        if not dist.is_initialized():
            if device.type == "cuda":
                torch.cuda.set_device(device)
            store, rank, world_size = next(dist.rendezvous("env://"))
            store = dist.PrefixStore(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"), store)
            backend = "nccl" if device.type == "cuda" else "gloo"
            dist.init_process_group(backend, store=store, rank=rank, world_size=world_size)
            atexit.register(dist.destroy_process_group)
        return cls(dist.get_rank(), dist.get_world_size())

    def wrap(self, model: nn.Module) -> nn.Module:
        """Return the model with its gradients averaged over workers at each backward pass."""
        return nn.parallel.DistributedDataParallel(model) if self.world_size > 1 else model

    def micro_batches(self, accumulate: int) -> list[slice]:
        """Return this worker's rows of each batch, in ``accumulate`` parts.

        The parts of all workers together are the batch. A part takes rows at equal distances, so
        that for any numbers of rows, workers and parts the sizes differ by one row at most.
        """
        stride = self.world_size * accumulate
        return [slice(i, None, stride) for i in range(self.rank, stride, self.world_size)]

    def all_reduce(self, tensor: Tensor) -> None:
        """Replace a tensor by its sum over workers."""
        if self.world_size > 1:
            dist.all_reduce(tensor)

    def sum_on_main(self, tensor: Tensor) -> None:
        """Replace a tensor by its sum over workers on the main worker, by zeros on the others."""
        self.all_reduce(tensor)
        if self.rank != 0:  # so that nothing counts twice when it is summed again
            tensor.zero_()

    def barrier(self) -> None:
        """Wait until all workers are here."""
        if self.world_size > 1:
            dist.barrier()


def is_main_worker() -> bool:
    """Whether this process should print: true unless torchrun started it as one of the others."""
    return process_count() <= 1 or torchrun_number("RANK", 0) == 0


def process_count() -> int:
    """Return how many processes torchrun started; without it, a RANK of a cluster means nothing.

    Raises RunError where the environment has only a part of what torchrun writes into it.
    """
    size = torchrun_number("WORLD_SIZE", 1)
    lacking = [name for name in ("RANK", "MASTER_ADDR", "MASTER_PORT") if not os.environ.get(name)]
    if size > 1 and lacking:
        raise RunError(
            f"the environment has WORLD_SIZE={size}, but no {', '.join(lacking)}: start with "
            f"torchrun, which sets them all, or unset WORLD_SIZE."
        )
    return size


def torchrun_number(name: str, usual: int) -> int:
    """Return a number that torchrun writes into the environment, such as RANK, or the usual one.

    Raises RunError for what is no number.
    """
    return whole_from_environment(name, usual, RunError)


def device_name(device: torch.device | str) -> str:
    """Return the name of a CUDA GPU, or the number of cores and the make of the CPU."""
    kind = torch.device(device).type
    if kind == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{kind.upper()}, {os.cpu_count()} cores, {_cpu_make()}"


def _cpu_make() -> str:
    """Return what Linux calls the CPU, or elsewhere its architecture."""
    cpuinfo = Path("/proc/cpuinfo")
    named = re.search(r"model name\s*: (.*)", cpuinfo.read_text()) if cpuinfo.exists() else None
    return named[1] if named else platform.machine()
