"""A stream in a process of its own, to be killed: python stream_child.py DIR runs what there is, then ends."""

import os
import sys


def main(folder: str) -> None:
    from pyspark.sql import SparkSession

    from querycloak.spark import stream

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "512m")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")  # it lives for seconds
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.codegen.wholeStage", "false")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    log = session.readStream.schema("user string, query string, time bigint, category string")
    log = log.option("maxFilesPerTrigger", 1).option("header", True).csv(f"{folder}/in")
    released = stream(log, "self-adjusting", checkpoint=f"{folder}/state", k=3, as_in_paper=True, ids="original")
    query = released.write(f"{folder}/out", trigger={"availableNow": True})
    print("running", flush=True)
    query.awaitTermination()


if __name__ == "__main__":
    main(sys.argv[1])
