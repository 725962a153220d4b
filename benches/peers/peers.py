"""The peers, and how they are had: from PyPI, as wheels, into a virtual environment of their own."""

import subprocess
import sys
import venv
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
TOOLS = HERE.parent.parent / ".tools" / "bench"
PYTHON = TOOLS / "bin" / "python"


class Peer(NamedTuple):
    package: str
    more: tuple = ()  # what it needs and does not ask for
    tree: bool = False  # it starts processes
    source: bool = False  # it has no wheels, and is built

    def __str__(self):
        return self.package

    @property
    def adapter(self):
        return HERE / f"peer_{self.package.lower()}.py"


PEERS = [
    Peer("SetSimilaritySearch"),
    Peer("datasketch"),
    Peer("rensa"),
    Peer("gaoya"),
    Peer("FastSketchLSH"),
    Peer("datatrove", more=("regex", "tokenizers", "xxhash"), tree=True),
]


def environment_made():
    """Whether there is, now, a virtual environment to install into."""
    if not PYTHON.exists():
        try:
            venv.create(TOOLS, clear=True, with_pip=True)
        except (OSError, subprocess.CalledProcessError):
            return False
    return True


def installed(peer):
    """None, or why the peer cannot be had."""
    # Wheels, but for a peer that has none: whoever measures need not have the compilers of all peers.
    built = ["--no-binary", peer.package] if peer.source else []
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
           "--only-binary", ":all:", *built, "--constraint", HERE / "constraints.txt", peer.package, *peer.more]
    done = subprocess.run(pip, stderr=subprocess.PIPE, text=True)
    if done.returncode == 0:
        return None
    sys.stderr.write(done.stderr)
    # Of pip's errors the last says why, but for one that only points to a page.
    errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR:") and "://" not in line]
    return f"not installed: {errors[-1][7:] if errors else f'pip ended with exit status {done.returncode}'}"


def versions():
    lines = (HERE / "constraints.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if "==" in line)
