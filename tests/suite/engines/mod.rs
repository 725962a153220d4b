//! How a run is made: in one process, as many processes, by Hadoop and by Spark without a cluster; within its memory; stopped, and
//! going on.

mod address_space;
mod budget;
mod columnar;
mod hadoop;
mod hadoop_home;
mod memory;
mod ownership;
mod plans;
mod resume;
mod scripts;
mod spark;
mod task_growth;
