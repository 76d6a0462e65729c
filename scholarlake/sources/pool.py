"""Reading processes: started once, used for part after part, gone when their parent is gone.

They are spawned, never forked: Polars and Delta have threads that a fork would cut off.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import multiprocessing
import os
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.connection import wait

# Parameters of glibc's mallopt, and the largest that it takes for the first; the block itself is larger, and goes back.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_KEPT_BYTES, _LARGEST_KEPT = 256 << 20, 32 << 20

_pools: dict[int, ProcessPoolExecutor] = {}
_lock = threading.Lock()


def shared_pool(workers: int) -> ProcessPoolExecutor | None:
    """The pool of so many reading processes, started at its first use. None where a process may have no children."""
    if multiprocessing.current_process().daemon:
        return None
    with _lock:
        if workers not in _pools:
            _pools[workers] = ProcessPoolExecutor(
                workers, mp_context=multiprocessing.get_context("spawn"), initializer=_begin, initargs=(workers,)
            )
        return _pools[workers]


def drop_pool(workers: int) -> None:
    """Forget a pool, broken or not, so that the next use starts a new one."""
    with _lock:
        pool = _pools.pop(workers, None)
    if pool is not None:
        pool.shutdown(wait=False, cancel_futures=True)


@atexit.register
def _close_all() -> None:
    for workers in list(_pools):
        drop_pool(workers)


def _begin(workers: int) -> None:
    """Set up a reading process before it imports Polars."""
    os.environ.setdefault("POLARS_MAX_THREADS", str(max(1, (os.cpu_count() or 1) // workers)))
    # Rows hold no cycles, and going over millions of them to find none costs a quarter of the time.
    gc.disable()
    _keep_memory()
    parent = multiprocessing.parent_process()
    if parent is not None:  # a killed parent can't end its children: they watch it
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _keep_memory() -> None:
    """Keep what is freed for the next piece of a block: to give pages back and take them anew costs a tenth of the time."""
    import pyarrow  # not before the environment is set

    pyarrow.set_memory_pool(pyarrow.system_memory_pool())  # Arrow's own one would give them back
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # only glibc has it
        mallopt(_TRIM_THRESHOLD, _KEPT_BYTES)
        mallopt(_MMAP_THRESHOLD, _LARGEST_KEPT)


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
