"""What an experiment has measured, a line of JSON for each point, so that one that was stopped goes on with the next.

A point is told by its settings, the machine and the program: whoever builds another twinsplit, or goes elsewhere, measures anew.
"""

import hashlib
import json
import time

from result import BINARIES, WORK, processor, progress


class NotNow(Exception):
    """A point that the time does not suffice for; the next call of the experiment goes on with it."""


def add_minutes(parser):
    parser.add_argument("--minutes", type=float, metavar="N", help="begin no run that would end later; the results are those that are there, and the next call goes on")


class Points:
    """Those of an experiment, in out/experiments/NAME/points.jsonl."""

    def __init__(self, name, minutes=None):
        self.end = time.monotonic() + 60 * minutes if minutes is not None else float("inf")
        self.path = WORK / name / "points.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        program = hashlib.sha256((BINARIES / "twinsplit").read_bytes()).hexdigest()[:16]
        self.common = [processor(), program]
        self.known = {}
        if self.path.is_file():
            for line in self.path.read_text().splitlines():
                key, value = json.loads(line)
                self.known[json.dumps(key)] = value

    def key(self, settings):
        return [*self.common, *settings]

    def get(self, *settings):
        """What was measured, or nothing."""
        return self.known.get(json.dumps(self.key(settings)))

    def measured(self, settings, measure, expected=0):
        """That of the settings; `measure` is asked once, and takes the expected seconds or more."""
        found = self.get(*settings)
        if found is None:
            what = " ".join(map(str, settings))
            if time.monotonic() + expected > self.end:
                progress(f"not now: {what}")
                raise NotNow
            progress(f"measuring {what}")
            found = measure()
            with open(self.path, "a") as out:
                out.write(json.dumps([self.key(settings), found]) + "\n")
            self.known[json.dumps(self.key(settings))] = found
        return found
