"""Files, wherever Hadoop finds them, and the documents among them. Only the driver reaches them this way; tasks read and
write rows."""

import json, os, subprocess, sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from pyspark import SparkContext

class Failed(SystemExit):
    """The end of a page, which has said why. A program that runs a page's steps in a session of its own silences it, catches
    this, and has the words."""

    silent = False

    def __init__(self, message, code):
        super().__init__(code)
        self.message = message

def fail(message, code=1):
    if not Failed.silent:
        sys.stdout.flush()
        print("error:", message, file=sys.stderr, flush=True)
    raise Failed(message, code)

def hadoop():
    """The JVM's package org.apache.hadoop."""
    return SparkContext._active_spark_context._jvm.org.apache.hadoop

def configuration():
    return SparkContext._active_spark_context._jsc.hadoopConfiguration()

def there(name):
    """A name's file system and path."""
    path = hadoop().fs.Path(name)
    return path.getFileSystem(configuration()), path

def whole_name(name):
    system, path = there(name)
    return system.makeQualified(path).toString()

def exists(name):
    system, path = there(name)
    return system.exists(path)

def is_folder(name):
    system, path = there(name)
    return system.exists(path) and system.getFileStatus(path).isDirectory()

def local(name):
    """A file's name on this machine, if it is there."""
    return "/" + name[len("file:") :].lstrip("/") if name.startswith("file:") else None

def kind(name):
    """What has this name: a link, a folder, a file or nothing."""
    if local(name) and os.path.islink(local(name)):
        return "link"
    return ("folder" if is_folder(name) else "file") if exists(name) else None

def listed(name):
    """The names in a folder with their FileStatus, in byte order."""
    system, path = there(name)
    found = [(status.getPath().getName(), status) for status in system.listStatus(path)]
    return sorted(found, key=lambda entry: entry[0].encode())

def names(folder):
    return [name for name, _ in listed(folder)] if is_folder(folder) else []

def read(name, limit=None):
    """A small file's text, as it stands there whatever checksum an earlier one of its name had."""
    if local(name):
        with open(local(name), "rb") as stream:
            return stream.read(limit).decode("utf-8", "replace")
    system, path = there(name)
    stream = system.open(path)
    try:
        return SparkContext._active_spark_context._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")[:limit]
    finally:
        stream.close()

def create(name, text):
    """Makes a file, unless there is one: whether it did."""
    if exists(name):
        return False
    system, path = there(name)
    stream = system.create(path, False)
    stream.write(bytearray(text if isinstance(text, bytes) else text.encode()))
    stream.close()
    return True

def write(name, text):
    remove(name)
    create(name, text)

def move(name, to):
    system, path = there(name)
    if not system.rename(path, hadoop().fs.Path(to)):
        fail("cannot rename %s to %s" % (name, to))

def make_folder(name):
    system, path = there(name)
    system.mkdirs(path)

def remove(name):
    system, path = there(name)
    system.delete(path, True)

def ask_program(words, first):
    """Lets the program decide on the folder of an answer: it says line by line what it wants of the file system. Gives its
    last word."""
    known = {function.__name__: function for function in (kind, names, read, create, make_folder, move, remove)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(words, **pipes) as program:
        answer, word = first, None
        while word is None:
            with suppress(BrokenPipeError):  # It has said why it ended.
                program.stdin.write(json.dumps(answer).encode() + b"\n")
                program.stdin.flush()
            line = program.stdout.readline()
            if not line:
                break
            name, *arguments = json.loads(line)
            if name in known:
                answer = known[name](*arguments)
            else:
                word = arguments[0]
        with suppress(BrokenPipeError):
            program.stdin.close()
        said = program.stderr.read().decode("utf-8", "replace").strip()
    if program.returncode != 0:
        said = said.replace("error: ", "", 1) or "%s job was ended by signal %d" % (words[0], -program.returncode)
        fail(said, max(1, program.returncode))
    return word

# The documents: the same names mean the same files as for `twinsplit run --input`.

def is_hidden(name):
    return name.startswith(("_", "."))

def file_of(status):
    return status.getPath().toString(), status.getLen(), status.getModificationTime()

def below(name, hidden=False):
    """The files below a folder, without those that are hidden or lie in hidden folders: (name, length, changed)."""
    files = []
    for last, status in listed(name):
        if hidden or not is_hidden(last):
            files += below(status.getPath().toString(), hidden) if status.isDirectory() else [file_of(status)]
    return sorted(files, key=lambda file: file[0].encode())

def documents(inputs, program):
    """The files that inputs name: (name, length, changed) of each, and how it is read."""
    with ThreadPoolExecutor(16) as pool:
        files = [file for files in pool.map(lambda name: expanded(name, program), inputs) for file in files]
        known = [name for name, _, _ in files]
        if not files:
            fail("%s: no file lies in this folder or below it; names that begin with _ or . are left out" % inputs[0])
        if len(set(known)) < len(known):
            fail("the input names %s twice" % min(name for name in set(known) if known.count(name) > 1))
        codecs = hadoop().io.compress.CompressionCodecFactory(configuration())
        return files, dict(zip(known, pool.map(lambda file: kind_of(file, codecs), files)))

def expanded(name, program):
    """The files that an input names: a file, all below a folder, or those of which the program says that a pattern matches."""
    if exists(name):
        system, path = there(name)
        return below(name) if is_folder(name) else [file_of(system.getFileStatus(path))]
    parts = name.split("/")
    special = [number for number, part in enumerate(parts) if set(part) & set("*?[")]
    if not special:
        fail("%s: there is no such file or folder" % name)
    plain, pattern = "/".join(parts[: special[0]] + [""]) or ".", "/".join(parts[special[0] :])
    every = below(plain, True) if is_folder(plain) else []
    inside = len(whole_name(plain).rstrip("/")) + 1
    words = json.dumps([file[0][inside:] for file in every]).encode()
    found = subprocess.run([program, "job", "match", pattern], input=words, stdout=subprocess.PIPE)
    if found.returncode != 0 or not json.loads(found.stdout):
        fail(
            "%s: this pattern matches no file; * and ? match no / and no . or _ at the start of a name, and ** stands "
            "for folders at any depth" % name
        )
    return [every[number] for number in json.loads(found.stdout)]

def kind_of(file, codecs):
    """How a file of documents is read: by lines, or whole where its name and its first bytes tell Hadoop and us different things."""
    name, length, _ = file
    system, path = there(name)
    stream = system.open(path)
    try:
        is_gzip = length >= 2 and (stream.read(), stream.read()) == (0x1F, 0x8B)
    finally:
        stream.close()
    codec = codecs.getCodec(path)
    by_name = None if codec is None else codec.getClass().getSimpleName()
    if by_name == ("GzipCodec" if is_gzip else None):
        return "lines"
    if length > 1 << 30:
        fail("%s: its content is %sgzip and its name says another thing; rename it" % (name, "" if is_gzip else "not "))
    return "whole"
