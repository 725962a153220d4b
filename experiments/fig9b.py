"""Figure 9b of zhang2011: the time of Term-Split and Doc-Split against the number of slots on a Hadoop cluster of this machine.

Of each job at most so many map tasks, and reduce tasks, run at once. A machine has as many cores as it has: beyond those more slots
cannot help, so a model (schedule.py) takes the tasks of the run with one slot and schedules them, once on the cores of this machine, which is
compared with what was measured, and once on a core for each slot.
"""

import argparse
import os

import cluster
import collection
import corpora
import plot
from points import NotNow, Points, add_minutes
from result import progress, save
from schedule import Model
from splits import GENERATED, LENGTH, METHODS, NO_LIMIT, SEED

DOCUMENTS = 25_000
SLOTS = [1, 2, 4, 8]
SETTING = ["--features", "spotsigs", "--idf", "0.3,0.85", "--tau", "0.3"]
CHOSEN = ["Doc-Split", "Term-Split"]
# Memory for containers in each of two nodes: eight tasks and an application master run at once.
NODE_MB = 6144
# The paper: four times the processors, so many times as fast.
PAPER = 2.56


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    corpora.add_own(parser, parser)
    parser.add_argument("--documents", type=int, default=DOCUMENTS, metavar="N", help="of the generated documents")
    add_minutes(parser)
    opts = parser.parse_args()
    corpus = corpora.own(opts)
    documents = collection.own("fig9b", corpus) if corpus else collection.generated("fig9b", opts.documents, LENGTH, SEED)
    points = Points(documents.folder.name, opts.minutes)
    cores = os.cpu_count()
    rows, lines, models = [], {"this machine": {}, "a core for each slot": {}}, []
    with documents, cluster.Cluster(NODE_MB) as hadoop:
        for method in CHOSEN:
            words = [*METHODS[method], *SETTING, "--max-pairs", NO_LIMIT, "--write", "clusters"]
            runs = {}
            for slots in SLOTS:
                try:
                    runs[slots] = points.measured([documents.documents, method, slots], lambda: hadoop.run(
                        documents.head(documents.documents), words, slots))
                except NotNow:
                    break
            if 1 not in runs:
                continue
            if len({found["answer"] for found in runs.values()}) > 1:
                raise SystemExit(f"{method}: the clusters depend on the number of slots")
            model = Model(runs[1]["jobs"], runs[1]["seconds"])
            measured = {slots: found["seconds"] for slots, found in runs.items()}
            here, apart = ({slots: model.seconds(slots, within) for slots in SLOTS} for within in (cores, None))
            for slots in SLOTS:
                was = measured.get(slots)
                rows.append([method, slots, f"{was:.1f}" if was else "", f"{here[slots]:.1f}", f"{here[slots] / was - 1:+.3f}" if was else "",
                             f"{apart[slots]:.1f}", f"{measured[1] / was:.2f}" if was else "", f"{apart[1] / apart[slots]:.2f}"])
                progress(" ".join(map(str, rows[-1])))
            models.append([method, len(runs[1]["jobs"]), f"{model.work():.1f}", f"{model.rest:.1f}", f"{measured[1] / measured[4]:.2f}" if 4 in measured else "",
                           f"{apart[2] / apart[8]:.2f}", f"{model.work_only(2) / model.work_only(8):.2f}", PAPER])
            lines["this machine"] |= {f"{method}, measured": list(measured.items()), f"{method}, model": list(here.items())}
            lines["a core for each slot"][f"{method}, model"] = list(apart.items())
    plot.panels("fig9b", f"{documents.documents:,} documents: seconds by slots", lines, "seconds", "slots", log=True)
    save("fig9b", "Seconds on Hadoop by slots, measured and by a model (zhang2011, figure 9b)",
         ["method", "slots", "seconds", "model_on_these_cores", "model_against_measured", "model_with_a_core_a_slot", "times_as_fast", "model_times_as_fast"],
         rows, ["fig9b"],
         [f"{opts.corpus.name if opts.corpus else f'{documents.documents:,} documents, {GENERATED}'}; SpotSigs, IDF [0.3,0.85], tau 0.3; {cluster.MAPS} maps and {cluster.REDUCERS} reducers "
          f"in most jobs, on {cores} cores. The model is fitted to one slot, where it is what was measured."])
    save("fig9b-model", "What the model is made of, and four times the slots",
         ["method", "jobs", "task_seconds", "seconds_beside_tasks", "measured_1_to_4_slots", "model_2_to_8_slots", "the_same_of_tasks_alone", "paper"], models, [],
         ["Tasks alone: without what jobs, the driver and the gaps between tasks take, as it would be if each task worked much longer than it takes to start."])


if __name__ == "__main__":
    main()
