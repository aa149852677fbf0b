"""The other workers of a run that torchrun started; a run of one worker has none. Used in notebook 07."""

import os
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn


class Workers(NamedTuple):
    """Which of how many workers this process is."""

    rank: int = 0
    world_size: int = 1

    @classmethod
    def join(cls, device: torch.device) -> "Workers":
        """Join the group that torchrun describes in the environment: NCCL between cards, gloo between CPUs."""
        if int(os.environ.get("WORLD_SIZE", 1)) == 1:
            return cls()
        if not dist.is_initialized():
            if device.type == "cuda":
                torch.cuda.set_device(device)
            dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
        return cls(dist.get_rank(), dist.get_world_size())

    @property
    def is_main(self) -> bool:
        """Whether this worker writes files and shows progress."""
        return self.rank == 0

    def wrap(self, model: nn.Module) -> nn.Module:
        """The model with its gradients averaged over workers at each backward pass."""
        return nn.parallel.DistributedDataParallel(model) if self.world_size > 1 else model

    def micro_batches(self, accumulate: int) -> list[slice]:
        """This worker's rows of each batch, in ``accumulate`` parts; all workers' parts together are the batch."""
        return [slice(self.rank + self.world_size * part, None, self.world_size * accumulate) for part in range(accumulate)]

    def all_reduce(self, tensor: Tensor) -> None:
        """Replace a tensor by its sum over workers."""
        if self.world_size > 1:
            dist.all_reduce(tensor)

    def barrier(self) -> None:
        """Go on when all workers are here."""
        if self.world_size > 1:
            dist.barrier()


def is_main_worker() -> bool:
    """Whether this process should print: true unless torchrun started it as one of the others."""
    return int(os.environ.get("RANK", 0)) == 0
