"""A Spark for tests, in this process: one session for all of them, for its start takes longer than they do."""

import os
import sys
from contextlib import contextmanager

# Nothing listens to the network, and compiling takes longer than running here.
CONFS = {
    "spark.master": "local[2]",
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
}


@contextmanager
def session(program):
    """The session, until its JVM has ended."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    os.environ["PATH"] = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder
    for name, value in CONFS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    yield spark
    spark.stop()
    gateway = SparkContext._gateway
    gateway.proc.stdin.close()
    assert gateway.proc.wait(timeout=60) == 0
