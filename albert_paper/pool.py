"""One pool of processes for everything that trains several models.

Jobs go in, such as ``partial(do_run, run, ...)``; what they write into files comes out.
"""

import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial


def run_all(jobs: list[partial], processes: int, done: Callable = lambda result: None) -> None:
    """Call every job, of a module's function, in processes that end with this one.

    ``done`` is called with each result. The first error, or an interruption, ends all processes and
    is raised here; what a job must not lose it keeps in checkpoints.
    """
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, spawn, _end_with_parent) as pool:
        try:
            for future in as_completed([pool.submit(job) for job in jobs]):
                done(future.result())
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():
                child.terminate()
            raise error.with_traceback(None) from error.__cause__  # by a line of the course


def _end_with_parent() -> None:
    """A killed parent cannot end its children, which would write into the next call's folder."""
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "this runs in a process of a pool"
    parent.join()
    os._exit(1)
