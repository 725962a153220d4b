"""Rows are bytes all the way: Spark's text files keep them as they are, and casts do not look at them."""

from .files import fail
from .tasks import block_row, first_field, lines_of_whole


def literal(name):
    """A name that Spark shall not take for a pattern."""
    return "".join("\\" + letter if letter in "\\*?[]{}" else letter for letter in name)


def rows_of(spark, names):
    """The rows of text files, plain ones in splits, ended by LF and by nothing else."""
    if not names:
        return spark.sparkContext.emptyRDD()
    frame = spark.read.option("lineSep", "\n").option("ignoreCorruptFiles", "false").option("ignoreMissingFiles", "false")
    frame = frame.text([literal(name) for name in names])
    if len(set(frame.inputFiles())) != len(names):
        fail("Spark reads no files whose names begin with _ or . or end in ._COPYING_; rename such documents, or give a link to them")
    return frame.selectExpr("cast(value AS binary)").rdd.map(first_field)


def document_rows(spark, documents):
    by_lines = rows_of(spark, [name for name in documents if documents[name] == "lines"])
    whole = [literal(name) for name in documents if documents[name] == "whole"]
    if not whole:
        return by_lines
    frame = spark.read.format("binaryFile").option("ignoreCorruptFiles", "false").load(whole).select("content")
    return spark.sparkContext.union([by_lines, frame.rdd.flatMap(lines_of_whole)])


def save(spark, blocks, folder):
    """Writes blocks of whole lines as text files. Whoever reads them takes a byte order mark at a file's start away, but
    no row begins with one: an id has it escaped."""
    frame = spark.createDataFrame(blocks.map(block_row), "value binary", verifySchema=False)
    writer = frame.selectExpr("cast(value AS string) AS value").write.option("lineSep", "\n").option("compression", "none")
    writer = writer.option("maxRecordsPerFile", 0).option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
    writer.text(folder)
