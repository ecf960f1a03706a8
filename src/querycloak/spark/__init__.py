"""Logs on Apache Spark: the ground on which methods will run beyond one machine. It needs pyspark and Java 17."""
