"""Runs a page of jobs/spark, and kills its processes when a batch is over and Spark has not noted that.

usage: stream_killed.py NUMBER PAGE ARGUMENT…
"""

import os
import runpy
import signal
import sys

number, page = int(sys.argv[1]), sys.argv[2]
sys.path.insert(0, os.path.join(os.path.dirname(page), "..", "lib"))
from twinsplit_spark import stream  # noqa: E402

add = stream.Batches.add


def killed(self, frame, at):
    add(self, frame, at)
    if at == number:
        os.killpg(0, signal.SIGKILL)


stream.Batches.add = killed
sys.argv = sys.argv[2:]
runpy.run_path(page, run_name="__main__")
