"""Runs programs one after the other in one Spark session, for its start takes longer than they do.

usage: spark-submit session.py JOBS   (a JSON file: a list of {"name", "args", "variables", "remove"})

Files that match a pattern of "remove" are removed before the program runs; there must be some. What a program says goes
to NAME.said beside JOBS, with `exit CODE` as the last line.
"""

import contextlib
import glob
import json
import os
import runpy
import sys

with open(sys.argv[1]) as stream:
    jobs = json.load(stream)
for job in jobs:
    code = 0
    for pattern in job["remove"]:
        found = glob.glob(pattern)
        assert found, "%s: nothing to remove" % pattern
        for path in found:
            os.remove(path)
    sys.argv = job["args"]
    os.environ.update(job["variables"])
    with open(job["name"] + ".said", "w") as said:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                runpy.run_path(job["args"][0], run_name="__main__")
            except SystemExit as end:
                code = end.code or 0
        said.write("exit %s\n" % code)
    for name in job["variables"]:
        del os.environ[name]
