"""A Hadoop cluster on this machine's loopback for an experiment, which goes with it, and what its job history tells of tasks."""

import json
import os
import re
import shutil
import subprocess
import time
import urllib.request

import engines
from result import ROOT, WORK, environment, progress, ran

SCRIPTS = ROOT / "hdfs-fixtures" / "cluster"
# Seconds until the history of a job that has ended is there.
PATIENCE = 60
MAPS, REDUCERS = 8, 4
# Reducers begin when all maps have ended, so that their time is their own; an application master asks for the next task at once.
SETTINGS = [f"mapreduce.job.maps={MAPS}", "mapreduce.job.reduce.slowstart.completedmaps=1.0",
            "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms=100"]


class Cluster:
    """Started when the first run asks for it. `megabytes` of a node are for containers."""

    def __init__(self, megabytes=3072):
        self.folder = WORK / "cluster"
        self.settings = {"CLUSTER_DIR": str(self.folder), "CLUSTER_NODE_MB": str(megabytes)}
        self.variables = None
        self.there = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.variables:
            self.script("down")
            shutil.rmtree(self.folder)

    def script(self, *words):
        command = [SCRIPTS / "cluster.sh", *words]
        subprocess.run(command, env=environment(self.settings), check=True, stdout=subprocess.DEVNULL)

    def start(self):
        if self.variables:
            return
        progress("starting the cluster")
        home = subprocess.run([SCRIPTS / "install.sh"], check=True, capture_output=True, text=True).stdout.strip()
        self.variables = {"HADOOP_HOME": home, "HADOOP_CONF_DIR": str(self.folder / "conf"), "PATH": f"{home}/bin:{os.environ['PATH']}"}
        self.script("up")

    def hadoop(self, *words):
        done = subprocess.run(["hadoop", "fs", *map(str, words)], env=environment(self.variables), check=True, stdout=subprocess.PIPE)
        return done.stdout

    def put(self, documents):
        """The documents in HDFS; they are put there once for several runs."""
        about = documents.stat()
        now = str(documents), about.st_size, about.st_mtime_ns
        if self.there != now:
            self.hadoop("-mkdir", "-p", "/docs")
            self.hadoop("-put", "-f", documents, "/docs/documents.jsonl")
            self.there = now
        return "/docs/documents.jsonl"

    def run(self, documents, words, slots=None):
        """What a run took and found, and its jobs, each with the times of its tasks; of each job at most `slots` tasks run at once."""
        self.start()
        there = self.put(documents)
        disk = engines.Disk([self.folder / "data"])
        settings = [*SETTINGS, *(f"mapreduce.job.running.{kind}.limit={slots}" for kind in ("map", "reduce") if slots)]
        given = [word for setting in settings for word in ("-D", setting)]
        before = {job["id"] for job in self.jobs()}
        made = json.loads(ran("twinsplit", ["run", *words, "--json", "--quiet", "--engine", "hadoop", "--reducers", REDUCERS, *given,
                                            "--input", there, "--output", "/out"], None, self.variables, disk.watch))
        names = self.hadoop("-ls", "-C", "/out").decode().split()
        lines = {name: self.hadoop("-cat", f"/out/{name}/part-*").splitlines() for name in ("pairs", "clusters") if f"/out/{name}" in names}
        self.hadoop("-rm", "-r", "-skipTrash", "/out")
        return engines.found(made, disk, lines) | {"jobs": self.told(before)}

    def history(self, path):
        text = (self.folder / "conf" / "mapred-site.xml").read_text()
        address = re.search(r"mapreduce\.jobhistory\.webapp\.address</name><value>([^<]*)<", text).group(1)
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"http://{address}/ws/v1/history/mapreduce/jobs{path}") as said:
            return json.load(said)

    def jobs(self):
        return (self.history("")["jobs"] or {}).get("job", [])

    def told(self, before):
        """The jobs that are not among those before, in the order in which they began."""
        end = time.monotonic() + PATIENCE
        logged = 0
        while True:
            new = [job for job in self.jobs() if job["id"] not in before]
            # Jobs come into the history some seconds after their end.
            if new and len(new) == logged:
                break
            if time.monotonic() > end:
                raise SystemExit(f"the job history has {len(new)} jobs after {PATIENCE} seconds, and still changes")
            logged = len(new)
            time.sleep(5)
        return [self.job(job) for job in sorted(new, key=lambda job: job["startTime"])]

    def job(self, job):
        """Its name, how long it took, and of each kind the tasks in the order of their beginnings: (begin, end) since that of the job."""
        tasks = {"MAP": [], "REDUCE": []}
        for task in self.history(f"/{job['id']}/tasks")["tasks"]["task"]:
            attempt = self.history(f"/{job['id']}/tasks/{task['id']}/attempts/{task['successfulAttempt']}")["taskAttempt"]
            tasks[task["type"]].append([(attempt[name] - job["submitTime"]) / 1000 for name in ("startTime", "finishTime")])
        return {"name": job["name"].removeprefix("twinsplit "), "seconds": (job["finishTime"] - job["submitTime"]) / 1000,
                "maps": sorted(tasks["MAP"]), "reduces": sorted(tasks["REDUCE"])}
