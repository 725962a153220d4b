"""The folder of the answer. What a run recorded as its own is replaced, and nothing else: run.json and counters.json list
the names of an answer, and _work is a run's when its _run.json says so."""

import json
import sys

from .files import bytes_of, exists, fail, is_link, listed, make_folder, move, refuse, remove, write_bytes

ANSWER_NAMES = ["run.json", "counters.json", "pairs", "clusters", "kept", "quarantine"] + [
    "pairs.tsv", "clusters.tsv", "kept.jsonl", "quarantine.tsv", "report.html",
]


def object_of(name):
    """What a file of JSON holds, if there is one and it is no link."""
    if not exists(name) or is_link(name):
        return {}
    try:
        value = json.loads(bytes_of(name))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def recorded(name):
    """The names that a record lists, its own among them."""
    value = object_of(name)
    ours = "twinsplit" in value and "chain" in value or "manifest" in value and "steps" in value
    if not ours or not isinstance(value.get("outputs"), list):
        return set()
    paths = [str(output.get("path")) for output in value["outputs"] if isinstance(output, dict)]
    return {path.rstrip("/").rsplit("/", 1)[-1] for path in paths + [name]} & set(ANSWER_NAMES)


def owned(folder):
    """The names in a folder that are a run's."""
    names = recorded(folder + "/run.json") | recorded(folder + "/counters.json")
    return names | ({"report.html"} if "run.json" in names and is_page(folder + "/report.html") else set())


def is_page(name):
    """Whether `twinsplit report` wrote it."""
    return exists(name) and not is_link(name) and b'<meta name="generator" content="twinsplit ' in bytes_of(name)[:4096]


def is_of_a_run(folder):
    """Whether a folder of data sets in between is a run's."""
    manifest = object_of(folder + "/_run.json")
    if "twinsplit" in manifest or str(manifest.get("program")).startswith("twinsplit "):
        return True
    return exists(folder + "/_same") and bytes_of(folder + "/_same").lstrip(b"# ").startswith(b"twinsplit ")


def compare(earlier, manifest, folder):
    for what in ("script", "program", "variables", "files", "inputs"):
        was, now = earlier.get(what), manifest[what]
        if was == now:
            continue
        if isinstance(now, dict):
            names = sorted(name for name in set(was) | set(now) if was.get(name) != now.get(name))
            what = "%s (%s)" % (what, ", ".join(names[:3]))
        fail("%s is of a run with other %s; remove it to begin anew" % (folder, what))


class Answer:
    """An answer: complete it lies in `output`; until then it is `hidden` in `place`, beside the data sets in `work`."""

    def __init__(self, output, work):
        self.output, self.place, self.work = output, output + "/_work", work or output + "/_work"
        self.hidden = self.place + "/_answer"

    def refuse_others(self, own):
        paths = {name: self.output + "/" + name for name in ANSWER_NAMES}
        others = [path for name, path in paths.items() if is_link(path) or exists(path) and name not in own]
        if others:
            refuse(
                "%s in the way: no run recorded this as its own, so none replaces it; move it, or choose another folder"
                % " ".join(others)
            )

    def swap(self, replaces):
        """The answer, which is complete, comes to its place. The old records go first, so that nothing in between is taken
        for an answer, and the new one comes last. Whoever is called after a stop goes on where that was."""
        new = recorded(self.hidden + "/counters.json")
        moved = {name for name in new if not exists(self.hidden + "/" + name)}
        own = owned(self.place + "/_replaced")
        own |= {"report.html"} if "run.json" in own and is_page(self.output + "/report.html") else set()
        replaces = replaces or object_of(self.place + "/_run.json").get("overwrite") is True
        own = (own | owned(self.output) if replaces else own) - moved
        self.refuse_others(own | moved)
        make_folder(self.place + "/_replaced")
        for name in ANSWER_NAMES:
            if name in own and exists(self.output + "/" + name):
                move(self.output + "/" + name, self.place + "/_replaced/" + name)
        for name in sorted(new - moved, key=lambda name: (name == "counters.json", name)):
            move(self.hidden + "/" + name, self.output + "/" + name)

    def end(self, keep):
        """Removes what a run that is over has no more use for."""
        if keep:
            write_bytes(self.place + "/_kept", b"")
            remove(self.hidden)
            return
        for folder in {self.work, self.place}:
            # The manifest goes last, for what it does not name is nobody's.
            for name, _ in listed(folder) if exists(folder) else []:
                if name not in ("_run.json", "_replaced"):
                    remove(folder + "/" + name)
            remove(folder)

    def begin(self, manifest, resume, overwrite, say):
        """Looks at what an earlier run left, and compares with it."""
        for folder in {self.place, self.work}:
            if is_link(folder) or exists(folder) and listed(folder) and not is_of_a_run(folder):
                refuse("%s was made by no run, and a run works in a folder of its own; move it, or choose another folder" % folder)
        stopped = object_of(self.place + "/_run.json")
        if exists(self.hidden + "/counters.json") and (resume or overwrite):
            if resume:
                compare(stopped, manifest, self.place)
            self.swap(overwrite)
        # A run that has published its answer is over.
        if stopped and exists(self.place + "/_replaced") and not exists(self.hidden + "/counters.json"):
            stopped = {}
            if not exists(self.place + "/_kept"):
                self.end(False)
        if overwrite:
            self.refuse_others(owned(self.output))
            remove(self.work)
            remove(self.place)
        elif stopped and resume:
            compare(stopped, manifest, self.place)
            return
        elif recorded(self.output + "/counters.json"):
            if not resume:
                fail("%s holds an answer; remove it first" % self.output)
            compare(object_of(self.output + "/counters.json")["manifest"], manifest, self.output)
            say("%s holds the complete answer of this run" % self.output)
            sys.exit(0)
        for folder in (self.output, self.work):
            if not overwrite and exists(folder) and listed(folder):
                fail("%s is not empty: --resume goes on with what is there, or remove it" % folder)
        text = json.dumps(dict(manifest, overwrite=overwrite), sort_keys=True).encode()
        for folder in {self.place, self.work}:
            write_bytes(folder + "/_run.json", text)
