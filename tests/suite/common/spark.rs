//! A Spark for tests, in one process.

use std::path::PathBuf;

/// PySpark as `make spark` installs it.
#[track_caller]
pub fn spark_home() -> PathBuf {
    let pinned = include_str!("../../spark/requirements.txt");
    let version = pinned.lines().find_map(|line| line.strip_prefix("pyspark==")).unwrap();
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").expect("a HOME")).join(".cache"),
        PathBuf::from,
    );
    let home = cache.join(format!("twinsplit/pyspark-{version}/pyspark"));
    assert!(home.is_dir(), "{}: this test needs PySpark; `make spark` installs it", home.display());
    home
}

/// At least three map tasks a step, and nothing that listens to the network.
pub fn confs() -> [&'static str; 8] {
    [
        "spark.ui.enabled=false",
        "spark.driver.host=127.0.0.1",
        "spark.driver.bindAddress=127.0.0.1",
        "spark.sql.files.minPartitionNum=3",
        "spark.sql.files.openCostInBytes=0",
        // Compiling, and collecting garbage beside the program, take longer than running here.
        "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.codegen.wholeStage=false",
        "spark.sql.codegen.factoryMode=NO_CODEGEN",
    ]
}
