"""The same methods on Apache Spark, for logs beyond one machine. It needs pyspark and Java 17.

>>> from querycloak.spark import anonymize  # doctest: +SKIP
>>> table, statement = anonymize(frame, "sweep", min_query_users=10)  # doctest: +SKIP
"""

from querycloak.spark.exposed import exposure
from querycloak.spark.judge import attack
from querycloak.spark.mapped_queries import map_queries
from querycloak.spark.measures import measure
from querycloak.spark.release_on_spark import anonymize
from querycloak.spark.streams.query import SparkStream, stream

__all__ = ["SparkStream", "anonymize", "attack", "exposure", "map_queries", "measure", "stream"]
