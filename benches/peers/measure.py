"""Runs a program and says what it cost."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

EVERY = 0.1  # seconds between two looks at a tree of processes


class Cost(NamedTuple):
    wall: float
    processor: float
    peak: int
    failure: str | None


def measured(command, log, environment, limit=None, tree=False):
    """Wall seconds, processor seconds (user and system), and the peak of memory in bytes.

    The peak is the kernel's, from wait4, which knows single processes only. With `tree` the sum over all processes is
    looked at as well, ten times a second, so a short peak may be missed. The kernel's figure cannot be smaller than
    this process at the fork; so this process imports and keeps little.
    """
    with open(log, "wb") as out:
        start = time.perf_counter()
        process = subprocess.Popen(list(map(str, command)), stdout=out, stderr=subprocess.STDOUT, env=environment,
                                   start_new_session=True)
        watch = Watch(process.pid, start + limit if limit else None, tree)
        watch.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        watch.stop()
    process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    failure = None
    if watch.late:
        failure = f"not over after {limit:,} s"
    elif process.returncode != 0:
        sys.stderr.write(Path(log).read_text(errors="replace")[-2000:])
        failure = f"failed with exit status {process.returncode}"
    return Cost(wall, usage.ru_utime + usage.ru_stime, max(usage.ru_maxrss * unit, watch.peak), failure)


class Watch(threading.Thread):
    """Ends a session of processes that is late, and adds up its memory where that is wanted."""

    def __init__(self, session, end, tree):
        super().__init__(daemon=True)
        self.session, self.end, self.tree = session, end, tree
        self.peak, self.late, self.over = 0, False, threading.Event()

    def run(self):
        while not self.over.wait(EVERY if self.tree else self.left()):
            if self.tree:
                self.peak = max(self.peak, memory(self.session))
            if self.left() == 0:
                self.late = True
                os.killpg(self.session, signal.SIGKILL)
                return

    def left(self):
        return None if self.end is None else max(0, self.end - time.perf_counter())

    def stop(self):
        self.over.set()
        self.join()


def memory(session):
    """Bytes of all processes of a session; pages that they share count once. 0 on a system without /proc."""
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if int((folder / "stat").read_text().rpartition(")")[2].split()[3]) == session:
                fields = dict(line.split(":", 1) for line in (folder / "smaps_rollup").read_text().splitlines()[1:])
                total += int(fields["Pss"].split()[0]) * 1024
        except OSError:  # ended while it was looked at
            pass
    return total
