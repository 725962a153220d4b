"""Near-duplicates of DataFrames of Spark, on the session and the executors that you have; PySpark 3.5 or later must be installed.

`kept = twinsplit.spark.dedup(df, text="body", id="url")` is a DataFrame with the rows to keep. The program `twinsplit` runs on the executors: it must be on
the driver's PATH, or `program=` names it. `docs/spark.md` of the repository tells more.
"""

from ._runs import Duplicates, annotate, clusters, dedup, duplicates, find_pairs
from ._stores import store_batches

__all__ = ["Duplicates", "annotate", "clusters", "dedup", "duplicates", "find_pairs", "store_batches"]
