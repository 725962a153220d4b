"""The options of a program, and the driver that may have started it."""

import argparse
import os
import shutil
import time


def parse(about):
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("output", metavar="OUTPUT", help="folder of the answer, on any file system that Hadoop knows")
    add("input", metavar="INPUT", nargs="+", help="documents: files, folders, quoted patterns")
    add("--twinsplit", metavar="FILE", help="the program twinsplit, if it is not on PATH; it is sent to the executors")
    add("--reducers", metavar="N", type=int, help="tasks after a shuffle; give about twice the cluster's cores")
    add("--slices-at-once", metavar="N", type=int, default=2, help="Doc-Split's jobs that run at the same time")
    add("--work", metavar="FOLDER", help="folder of the data sets in between; OUTPUT/_work by default")
    add("--resume", action="store_true", help="go on after the last finished step of a run that was stopped")
    add("--overwrite", action="store_true", help="replace the answer that is there, when the new one is complete")
    add("--keep-work", action="store_true", help="keep the data sets in between")
    add("--shuffled", action="store_true", help="put values of equal keys out of order, to show hidden assumptions")
    add("--logs", metavar="FOLDER", help="a local folder for the step at hand, and what each step counted")
    add("--driver-pid", metavar="PID", type=int, help="end when this process does")
    add("--quiet", action="store_true", help="say nothing but errors")
    return parser.parse_args()


def variable(option):
    return "TWINSPLIT_" + option.upper().replace("-", "_")


def watch(driver, logs):
    """Ends with the driver, which may be killed; Spark and its tasks end with this process."""
    while True:
        try:
            os.kill(driver, 0)
            if ended_unseen(driver):
                raise OSError
        except OSError:
            # A driver that was killed can neither keep the logs nor say where they are.
            shutil.rmtree(logs or "", ignore_errors=True)
            os._exit(1)
        time.sleep(0.5)


def ended_unseen(process):
    """Whether a process has ended, and nobody has asked for its exit code yet."""
    try:
        with open("/proc/%d/stat" % process) as stream:
            return ") Z " in stream.read()
    except OSError:
        return False


def log(folder, name, text):
    """Tells a driver on this machine."""
    if folder:
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".partial", "w", encoding="utf-8") as stream:
            stream.write(text + "\n")
        os.replace(path + ".partial", path)
