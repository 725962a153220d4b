//! A real HDFS and YARN on this machine. All are ignored by `make test`: `make cluster-test` runs the quick ones, `make
//! cluster-test-full` all.

mod chains;
mod dist;
mod faults;
mod matrix;
mod scripts;
