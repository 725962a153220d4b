"""The program `twinsplit`, which plans chains and whose stages run on the executors."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence


def find(program: str | os.PathLike[str] | None) -> str:
    """The program that was given, or the one on PATH."""
    found = shutil.which(os.fspath(program) if program is not None else "twinsplit")
    if found is None and program is not None:
        raise FileNotFoundError(f"program={os.fspath(program)!r} is no file that can be run")
    if found is None:
        raise FileNotFoundError(
            "Spark runs the program twinsplit on its executors, and it is not on PATH: give program=FILE, for a cluster the static one of make dist"
        )
    return os.path.abspath(found)


def words(options: Sequence[tuple[str, str]]) -> list[str]:
    """Options as the program takes them."""
    return [f"--{name}={value}" for name, value in options]


def without_variables() -> dict[str, str]:
    """The environment without the variables that are options of the program."""
    return {name: value for name, value in os.environ.items() if not name.startswith("TWINSPLIT_")}


def plan(program: str, chain: str | None, options: Sequence[str]) -> str:
    """What `twinsplit plan` prints. What it refuses is a ValueError."""
    command = [program, "plan", *([chain] if chain is not None else []), *options]
    said = subprocess.run(command, capture_output=True, text=True, env=without_variables(), check=False)
    if said.returncode != 0:
        raise ValueError(said.stderr.strip().removeprefix("error: "))
    return said.stdout
