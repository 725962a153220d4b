"""Where a run writes: a folder of its own on storage that the driver and all executors reach."""

from __future__ import annotations

import os
import tempfile
import uuid

from pyspark import SparkContext
from twinsplit_spark.files import make_folder, remove, there, whole_name


class Folder:
    """The folder of a run, below `work`.

    When the run has succeeded the answer alone is left in it, and goes when the application ends; a run that failed leaves what it had made.
    """

    def __init__(self, context: SparkContext, work: str | os.PathLike[str] | None) -> None:
        self.made = None
        parent = None if work is None else os.fspath(work)
        if parent is None and context.master.partition("[")[0] == "local":
            self.made = parent = "file:" + tempfile.mkdtemp(prefix="twinsplit-spark-")
        # It must be on storage that all executors reach, too.
        parent = parent or context.getCheckpointDir()
        if parent is None:
            raise ValueError(
                "on a cluster documents and answers go through shared storage: give work=FOLDER, such as work='hdfs:///user/me/twinsplit', "
                "or set sparkContext.setCheckpointDir(FOLDER)"
            )
        self.name = whole_name(f"{parent.rstrip('/')}/twinsplit-{uuid.uuid4().hex}")
        make_folder(self.name)

    def __truediv__(self, name: str) -> str:
        return f"{self.name}/{name}"

    def remove(self) -> None:
        """Removes all of it."""
        remove(self.made or self.name)

    def leave(self, *others: str) -> None:
        """Removes these, and lets the rest go with the application: DataFrames read it when they are asked for."""
        for other in others:
            remove(self / other)
        # The program's own file system removes it when it is closed, which `spark.stop()` does not do and the end of the JVM does.
        system, path = there(self.made or self.name)
        system.deleteOnExit(path)
