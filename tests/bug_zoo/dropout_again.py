"""Answers to the exercise of notebook 10 on recomputing with dropout, right and wrong."""

import torch
from torch.utils.checkpoint import checkpoint

from albert_edu.analysis.memory import Recompute, rerun
from albert_edu.checks import check_recompute_with_dropout
from tests.bug_zoo.zoo import right, wrong


@right(check_recompute_with_dropout)
class RecomputeSame(Recompute):
    """As the notebook's hints say."""

    @staticmethod
    def forward(ctx, block, x, *weights):
        ctx.state = torch.get_rng_state()
        return Recompute.forward(ctx, block, x, *weights)

    @staticmethod
    def backward(ctx, back):
        with torch.random.fork_rng():
            torch.set_rng_state(ctx.state)
            return Recompute.backward(ctx, back)


@right(check_recompute_with_dropout)
class SavedAndRestored(torch.autograd.Function):
    """The state is saved as a tensor among the others and put back by hand."""

    @staticmethod
    def forward(ctx, block, x, *weights):
        ctx.block = block
        ctx.save_for_backward(x, torch.random.get_rng_state())
        return block(x)

    @staticmethod
    def backward(ctx, back):
        x, state = ctx.saved_tensors
        now = torch.random.get_rng_state()
        torch.random.set_rng_state(state)
        _, gradient, of_weights = rerun(ctx.block, x, back)
        torch.random.set_rng_state(now)
        return None, gradient, *of_weights


@right(check_recompute_with_dropout)
class ByTorch:
    """No Function of its own: torch's checkpoint keeps the state by itself."""

    @staticmethod
    def apply(block, x, *weights):
        return checkpoint(block, x, use_reentrant=False)


@wrong(check_recompute_with_dropout, "drawing another dropout in the second run")
class AsItWas(Recompute):
    """Recompute, which is wrong for dropout."""


@wrong(check_recompute_with_dropout, "drawing another dropout in the second run")
class StateTooLate(RecomputeSame):
    """Keeps the state behind the first run."""

    @staticmethod
    def forward(ctx, block, x, *weights):
        output = Recompute.forward(ctx, block, x, *weights)
        ctx.state = torch.get_rng_state()
        return output


@wrong(check_recompute_with_dropout, "drawing another dropout in the second run")
class ForkOnly(Recompute):
    """Forgets to set the state inside fork_rng."""

    @staticmethod
    def backward(ctx, back):
        with torch.random.fork_rng():
            return Recompute.backward(ctx, back)


@wrong(check_recompute_with_dropout, "the second run draws, and the program notices")
class Noticed(Recompute):
    """As it was, seen from the rest of the program."""


@wrong(check_recompute_with_dropout, "inside torch.random.fork_rng() only")
class NotPutBack(RecomputeSame):
    """Sets the program's own state."""

    @staticmethod
    def backward(ctx, back):
        torch.set_rng_state(ctx.state)
        gradients = Recompute.backward(ctx, back)
        torch.seed()  # "to be random again"
        return gradients


@wrong(check_recompute_with_dropout, "numbers that it has had")
class NotForked(RecomputeSame):
    """Goes on from where the block's first run ended, which is right as long as there is one application."""

    @staticmethod
    def backward(ctx, back):
        torch.set_rng_state(ctx.state)
        return Recompute.backward(ctx, back)


@wrong(check_recompute_with_dropout, "seed nothing")
class SeededTwice(Recompute):
    """The same seed before both runs."""

    @staticmethod
    def forward(ctx, block, x, *weights):
        torch.manual_seed(0)
        return Recompute.forward(ctx, block, x, *weights)

    @staticmethod
    def backward(ctx, back):
        torch.manual_seed(0)
        return Recompute.backward(ctx, back)


@wrong(check_recompute_with_dropout, "on ctx, not on the class or the block")
class StateOnTheBlock(Recompute):
    """A block that is applied twice forgets its first state."""

    @staticmethod
    def forward(ctx, block, x, *weights):
        block.state = torch.get_rng_state()
        return Recompute.forward(ctx, block, x, *weights)

    @staticmethod
    def backward(ctx, back):
        with torch.random.fork_rng():
            torch.set_rng_state(ctx.block.state)
            return Recompute.backward(ctx, back)


@wrong(check_recompute_with_dropout, "dropping nothing in the second run")
class EvalInBackward(Recompute):
    """Turns dropout off, to be safe."""

    @staticmethod
    def backward(ctx, back):
        ctx.block.eval()
        gradients = Recompute.backward(ctx, back)
        ctx.block.train()
        return gradients


@wrong(check_recompute_with_dropout, "dropping nothing in the first run")
class EvalInForward(RecomputeSame):
    """Turns dropout off where the block runs first."""

    @staticmethod
    def forward(ctx, block, x, *weights):
        output = RecomputeSame.forward(ctx, block.eval(), x, *weights)
        block.train()
        return output


@wrong(check_recompute_with_dropout, "keep it on ctx")
class StateOnTheClass(Recompute):
    """One state for all applications."""

    state = None

    @staticmethod
    def forward(ctx, block, x, *weights):
        StateOnTheClass.state = torch.get_rng_state()
        return Recompute.forward(ctx, block, x, *weights)

    @staticmethod
    def backward(ctx, back):
        with torch.random.fork_rng():
            torch.set_rng_state(StateOnTheClass.state)
            return Recompute.backward(ctx, back)


@wrong(check_recompute_with_dropout, "the first run's graph is held")
class NeverAgain:
    """Not recomputing gives the right dropout, too."""

    @staticmethod
    def apply(block, x, *weights):
        return block(x)


@wrong(check_recompute_with_dropout, "as its base")
def recompute(block, x):
    return block(x)


@wrong(check_recompute_with_dropout, "still to do")
class NotBegun(Recompute):
    """As handed out."""

    @staticmethod
    def forward(ctx, block, x, *weights):
        raise NotImplementedError("Exercise 10.1")
