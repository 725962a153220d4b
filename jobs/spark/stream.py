#!/usr/bin/env python3
"""Near-duplicates in a stream, on Spark 3.5 and later: each micro-batch goes into a store of twinsplit, once, and its answer into
a folder of its own.

usage: spark-submit stream.py --store FOLDER --output FOLDER --checkpoint FOLDER (--folder FOLDER | --kafka SERVERS --topic TOPIC)
                              [OPTION...] [-- OPTION OF twinsplit run...]

Store and output are on this machine, the checkpoint where Spark keeps it. docs/spark.md tells more.
"""

import argparse, os, shutil, sys

# The library is in JOBS_LIB, beside this script's folder, or where twinsplit is installed.
here, program = os.path.dirname(os.path.abspath(__file__)), os.path.dirname(shutil.which("twinsplit") or "")
sys.path += [os.environ["JOBS_LIB"]] if os.environ.get("JOBS_LIB") else [here + "/../lib", program + "/../share/twinsplit/lib"]
sys.dont_write_bytecode = True  # nothing beside it
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
try:
    from twinsplit_spark.stream import OF_FOLDER, OF_KAFKA, Batches
except ModuleNotFoundError as error:
    sys.exit("error: %s: let JOBS_LIB be the folder that holds twinsplit_spark, jobs/lib of the sources" % error)

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--store", metavar="FOLDER", required=True, help="the store, which the first batch makes")
parser.add_argument("--output", metavar="FOLDER", required=True, help="a folder for each batch: pairs, clusters, kept lines")
parser.add_argument("--checkpoint", metavar="FOLDER", required=True, help="where Spark notes which batches are done")
parser.add_argument("--folder", metavar="FOLDER", help="files of JSON lines; new ones become batches")
parser.add_argument("--kafka", metavar="SERVERS", help="bootstrap servers; values of records are JSON lines")
parser.add_argument("--topic", metavar="TOPIC", help="the topic")
parser.add_argument("--source", metavar="NAME=VALUE", action="append", default=[], help="an option of Spark's source, such as maxFilesPerTrigger=100")
parser.add_argument("--every", metavar="TIME", help="begin a batch so often, such as '1 minute'; otherwise when the one before is over")
parser.add_argument("--available-now", action="store_true", help="take what is there, and end")
parser.add_argument("--twinsplit", metavar="FILE", default=shutil.which("twinsplit"), help="the program twinsplit, if it is not on PATH")
parser.add_argument("options", metavar="OPTION", nargs="*", help="the chain's options, behind --")
asked = parser.parse_args()
if asked.twinsplit is None:
    parser.error("twinsplit is not on PATH; put its folder there, or name it with --twinsplit")
if (asked.folder is None) == (asked.kafka is None) or (asked.kafka is None) != (asked.topic is None):
    parser.error("give --folder, or --kafka and --topic")

spark = SparkSession.builder.appName("twinsplit stream").getOrCreate()
spark.sparkContext.setLogLevel("OFF")  # What fails is said below.
source = spark.readStream.options(**dict(option.split("=", 1) for option in asked.source))
if asked.folder:
    lines = source.option("lineSep", "\n").text(asked.folder).selectExpr(*OF_FOLDER)
else:
    records = source.format("kafka").option("kafka.bootstrap.servers", asked.kafka).option("subscribe", asked.topic).load()
    lines = records.selectExpr(*OF_KAFKA)
batches = Batches(asked.twinsplit, asked.store, asked.output, asked.options)
writer = lines.writeStream.foreachBatch(batches).option("checkpointLocation", asked.checkpoint)
if asked.available_now or asked.every:
    writer = writer.trigger(availableNow=True) if asked.available_now else writer.trigger(processingTime=asked.every)
try:
    writer.start().awaitTermination()
except StreamingQueryException as error:
    sys.exit("error: %s" % (batches.failed or error))
