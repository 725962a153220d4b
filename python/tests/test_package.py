"""The package itself: types, examples, and what it needs."""

import doctest
import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import twinsplit

PACKAGE = Path(twinsplit.__file__).parent
MODULES = ["twinsplit", "twinsplit._duplicates", "twinsplit._indexes", "twinsplit._inputs", "twinsplit._options", "twinsplit._runs", "twinsplit.spark._ids"]


def test_it_is_the_installed_one():
    assert "site-packages" in str(PACKAGE) and (PACKAGE / "py.typed").is_file()


# The types of pandas and others are not ours to check.
CONFIG = ROOT / "python" / "pyproject.toml"


def python(*arguments, cwd):
    said = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False, cwd=cwd)
    return said.returncode, said.stdout + said.stderr


def test_types_are_checked(tmp_path):
    """The package is right by itself; of two programs of users the one that takes a number for a text is not."""
    code, said = python("-m", "mypy", "--config-file", CONFIG, "--cache-dir", tmp_path, ROOT / "python" / "twinsplit", cwd=tmp_path)
    assert code == 0, said
    for name, kind in (("right", "int"), ("wrong", "str")):
        (tmp_path / f"{name}.py").write_text(f"import twinsplit\nrows: list[{kind}] = twinsplit.dedup(['a']).kept\n")
    code, said = python("-m", "mypy", "--config-file", CONFIG, "--cache-dir", tmp_path / "users", "right.py", "wrong.py", cwd=tmp_path)
    assert code == 1 and "Found 1 error in 1 file" in said and said.startswith("wrong.py:2:"), said


def test_types_are_those_of_the_compiled_module(tmp_path):
    code, said = python(
        "-m", "mypy.stubtest", "twinsplit._twinsplit", "--ignore-disjoint-bases", "--mypy-config-file", CONFIG, cwd=tmp_path
    )
    assert code == 0, said


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0 and (result.attempted > 0 or name.endswith("_inputs"))


def test_examples_of_the_page(tmp_path, monkeypatch, spark):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    # The end of a block is no output.
    lines = ["" if line.startswith("```") else line for line in page.splitlines()]
    examples = doctest.DocTestParser().get_doctest("\n".join(lines), {}, "python.md", "docs/python.md", 0)
    said = []
    result = doctest.DocTestRunner().run(examples, out=said.append)
    assert result.failed == 0 and result.attempted > 30, "".join(said)


def test_every_name_has_a_docstring_and_a_place_on_the_page():
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    for name in twinsplit.__all__:
        assert getattr(twinsplit, name).__doc__, name
        assert f"`{name}`" in page or f"`{name}(" in page, name
    for name in ("dedup", "Index", "Duplicates"):
        methods = [method for method in vars(getattr(twinsplit, name)) if not method.startswith("_")] if name != "dedup" else []
        for method in methods:
            assert f".{method}" in page or f"`{method}" in page, f"{name}.{method}"


def test_nothing_else_is_needed():
    """Neither pandas nor any other library is imported before a user asks for it."""
    script = (
        "import sys\n"
        "class No:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in ('pandas', 'polars', 'pyarrow', 'numpy', 'duckdb', 'pyspark'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, No())\n"
        "import twinsplit\n"
        "found = twinsplit.dedup(['a b', 'a b!'], features='words:1')\n"
        "assert found.kept == [0] and found.__arrow_c_stream__() is not None\n"
        "try:\n    found.to_polars()\nexcept ImportError:\n    print('as it should be')\n"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout == "as it should be\n"
