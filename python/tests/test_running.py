"""Long runs: they can be stopped, tell how far they are, and leave other threads their time."""

import gc
import os
import signal
import subprocess
import sys
import threading

import pytest

import twinsplit

TEXTS = [" ".join(f"w{(at * (1 + number % 9) + number // 5) % 300}" for at in range(60)) for number in range(6000)]


def phases(**options):
    told = []
    twinsplit.dedup(TEXTS[:600], features="words:2", progress=told.append, **options)
    return told


def test_progress_is_told():
    told = phases()
    assert {"tokenize", "docsplit-query", "keep"} <= {now.step for now in told}
    assert all(now.unit in ("bytes", "rows", "sets") for now in told)
    assert all(now.done <= now.total for now in told if now.total)


def test_progress_is_shown(capsys):
    twinsplit.dedup(TEXTS[:600], features="words:2", progress=True)
    shown = capsys.readouterr()
    assert shown.out == "" and "tokenize: reading" in shown.err and shown.err.endswith("\r")
    assert all(len(line) <= 60 for line in shown.err.split("\r"))


@pytest.mark.parametrize("chain", ["doc-split", "term-split", "minhash", "simhash", "ccdet", "i-match"])
def test_control_c_ends_a_run_and_nothing_is_left(chain, tmp_path):
    stopped = 0
    steps = list(dict.fromkeys(now.step for now in phases(chain=chain)))
    assert len(steps) > 2
    # The last step may be over before anybody has seen the signal.
    for step in steps[:-1]:
        def interrupt(now, step=step):
            if now.step == step:
                os.kill(os.getpid(), signal.SIGINT)

        with pytest.raises(KeyboardInterrupt):
            twinsplit.dedup(TEXTS, features="words:2", chain=chain, folder=tmp_path, progress=interrupt)
        gc.collect()
        assert os.listdir(tmp_path) == [], step
        stopped += 1
    assert stopped == len(steps) - 1


def test_a_signal_from_outside(tmp_path):
    """Without a progress callback, and of a whole process."""
    script = (
        "import sys, twinsplit\n"
        "texts = [' '.join(f'w{(at * (1 + n % 9) + n // 5) % 300}' for at in range(60)) for n in range(60_000)]\n"
        "print('started', flush=True)\n"
        f"twinsplit.dedup(texts, features='words:2', threshold=0.1, folder={str(tmp_path)!r})\n"
    )
    running = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout.readline() == "started\n"
    while not os.listdir(tmp_path) and running.poll() is None:
        pass
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=60)
    assert running.returncode != 0 and errors.rstrip().endswith("KeyboardInterrupt"), errors
    assert os.listdir(tmp_path) == []


def test_what_progress_raises_ends_a_run(tmp_path):
    def fail(now):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        twinsplit.dedup(TEXTS, features="words:2", folder=tmp_path, progress=fail)
    gc.collect()
    assert os.listdir(tmp_path) == []


def test_others_work_meanwhile():
    found = []
    thread = threading.Thread(target=lambda: found.append(twinsplit.dedup(TEXTS, features="words:2", threshold=0.3)))
    thread.start()
    turns = 0
    while thread.is_alive():
        turns += 1
    # With the lock held through the work there would be one or two.
    assert turns > 1000 and len(found[0]) == len(TEXTS)


def test_files_last_as_long_as_what_was_found(tmp_path):
    found = twinsplit.dedup(["one two", "one two!"], features="words:1", folder=tmp_path)
    assert len(os.listdir(tmp_path)) == 1 and len(found.pairs()) == 1
    del found
    gc.collect()
    assert os.listdir(tmp_path) == []
    # Nor longer than the interpreter.
    script = f"import twinsplit; found = twinsplit.dedup(['one two'] * 2, features='words:1', folder={str(tmp_path)!r}); own = [found]; own.append(own)"
    subprocess.run([sys.executable, "-c", script], check=True)
    assert os.listdir(tmp_path) == []


def test_many_runs_at_once():
    expected = twinsplit.find_pairs(TEXTS[:1500], features="words:2")[:]
    found = [None] * 4

    def run(at):
        found[at] = twinsplit.find_pairs(TEXTS[:1500], features="words:2", threads=1 + at % 2)[:]

    threads = [threading.Thread(target=run, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4 and len(expected) > 100
