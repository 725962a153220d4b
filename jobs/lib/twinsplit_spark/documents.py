"""The documents: the same names mean the same files as for `twinsplit run --input`."""

import fnmatch
from concurrent.futures import ThreadPoolExecutor

from .files import below, configuration, exists, fail, file_system, hadoop, hadoop_path, is_hidden, listed


def documents(inputs):
    """The files that inputs name: (name, length, changed) of each, and how it is read."""
    with ThreadPoolExecutor(16) as pool:
        files = [file for files in pool.map(expanded, inputs) for file in files]
        names = [name for name, _, _ in files]
        if not files:
            fail("%s: no file lies in this folder or below it; names that begin with _ or . are left out" % inputs[0])
        if len(set(names)) < len(names):
            fail("the input names %s twice" % min(name for name in set(names) if names.count(name) > 1))
        codecs = hadoop().io.compress.CompressionCodecFactory(configuration())
        return files, dict(zip(names, pool.map(lambda file: kind_of(file, codecs), files)))


def expanded(name):
    """The files that an input names: a file, all below a folder, or what a pattern matches."""
    path = hadoop_path(name)
    if exists(name):
        status = file_system(path).getFileStatus(path)
        if status.isDirectory():
            return below(name)
        return [(status.getPath().toString(), status.getLen(), status.getModificationTime())]
    if not any(special in name for special in "*?["):
        fail("%s: there is no such file or folder" % name)
    files = {}
    parts = name.split("/")
    plain = next(number for number, part in enumerate(parts) if any(special in part for special in "*?["))
    for found in matching("/".join(parts[:plain]) + "/" if plain else ".", parts[plain:]):
        files.update((file[0], file) for file in expanded(found))
    if not files:
        fail(
            "%s: this pattern matches no file; * and ? match no / and no . or _ at the start of a name, and ** stands "
            "for folders at any depth" % name
        )
    return [files[name] for name in sorted(files, key=str.encode)]


def matching(folder, parts):
    """The names below a folder that match the parts of a pattern, one part for each level."""
    if not parts:
        return [folder]
    if not exists(folder) or not file_system(hadoop_path(folder)).getFileStatus(hadoop_path(folder)).isDirectory():
        return []
    part, rest = parts[0], parts[1:]
    if not part:
        return matching(folder, rest)
    found = []
    if part == "**":
        found += matching(folder, rest) if rest else [folder]
    for last, status in listed(folder):
        name = status.getPath().toString()
        if part == "**" and not is_hidden(last) and status.isDirectory():
            found += matching(name, parts)
        elif fnmatch.fnmatchcase(last, part) and (not is_hidden(last) or part[0] == last[0]):
            found += matching(name, rest)
    return found


def kind_of(file, codecs):
    """How a file of documents is read: by lines, or whole where its name and its first bytes tell Hadoop and us different things."""
    name, length, _ = file
    path = hadoop_path(name)
    stream = file_system(path).open(path)
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
