"""Files, wherever Hadoop finds them. Only the driver reaches them this way; tasks read and write rows."""

import os
import sys

from pyspark import SparkContext


def fail(message, code=1):
    sys.stdout.flush()
    print("error:", message, file=sys.stderr, flush=True)
    sys.exit(code)


def refuse(message):
    fail(message, 2)


def hadoop():
    """The JVM's package org.apache.hadoop."""
    return SparkContext._active_spark_context._jvm.org.apache.hadoop


def configuration():
    return SparkContext._active_spark_context._jsc.hadoopConfiguration()


def hadoop_path(name):
    return hadoop().fs.Path(name)


def file_system(path):
    return path.getFileSystem(configuration())


def whole_name(name):
    path = hadoop_path(name)
    return file_system(path).makeQualified(path).toString()


def exists(name):
    path = hadoop_path(name)
    return file_system(path).exists(path)


def listed(name):
    """The names in a folder with their FileStatus, in byte order."""
    path = hadoop_path(name)
    found = [(status.getPath().getName(), status) for status in file_system(path).listStatus(path)]
    return sorted(found, key=lambda entry: entry[0].encode())


def is_hidden(name):
    return name.startswith(("_", "."))


def below(name):
    """The files below a folder, without those that are hidden or lie in hidden folders: (name, length, changed)."""
    files = []
    for last, status in listed(name):
        if is_hidden(last):
            continue
        if status.isDirectory():
            files += below(status.getPath().toString())
        else:
            files.append((status.getPath().toString(), status.getLen(), status.getModificationTime()))
    return sorted(files, key=lambda file: file[0].encode())


def read_text(name):
    path = hadoop_path(name)
    stream = file_system(path).open(path)
    try:
        return SparkContext._active_spark_context._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
    finally:
        stream.close()


def write_bytes(name, content):
    """Writes a file that appears under its name when it is complete."""
    path, partial = hadoop_path(name), hadoop_path(name + "._partial")
    stream = file_system(path).create(partial, True)
    stream.write(bytearray(content))
    stream.close()
    file_system(path).delete(path, False)
    move(name + "._partial", name)


def move(name, to):
    path = hadoop_path(name)
    if not file_system(path).rename(path, hadoop_path(to)):
        fail("cannot rename %s to %s" % (name, to))


def make_folder(name):
    path = hadoop_path(name)
    file_system(path).mkdirs(path)


def remove(name):
    path = hadoop_path(name)
    file_system(path).delete(path, True)


def is_link(name):
    """Whether it is a link of this machine's file system."""
    return name.startswith("file:") and os.path.islink(local_path(name))


def local_path(name):
    return "/" + name[len("file:") :].lstrip("/")


def bytes_of(name):
    """A small file's content, as it stands there whatever checksum an earlier one of its name had."""
    if name.startswith("file:"):
        with open(local_path(name), "rb") as stream:
            return stream.read()
    return read_text(name).encode()
