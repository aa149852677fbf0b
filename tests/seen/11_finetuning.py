"""The folded check, and the last exercise: the pupil compares stages, and the third one verbs alone."""

import contextlib

from albert_paper.school import CLASSES

assert sum(steps for _, steps, _ in CLASSES) == 3300  # where no class is repeated

with contextlib.redirect_stdout(None):
    exec(FOLDED["How can one check that it compares stages?"][0])
kept = share_right(reading, no_answer)
assert abs(kept - 0.88) < 0.06, kept

random.seed(0)
with contextlib.redirect_stdout(None):
    exec(FOLDED["Solution"][-1])
by_the_rest = share_right(third, last_test)
assert 0.2 < by_the_rest < 0.33, by_the_rest
