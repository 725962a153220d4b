"""How long a chain's jobs would take on more slots and nodes: their measured tasks, scheduled by list scheduling.

The tasks are those of a run with one slot, where none disturbs another. A free slot takes the next task; before a task begins there is the
gap that lay between two of them, in which nothing works; reducers begin when all maps have ended; jobs come one after the other, and
what a job and the driver take beside the tasks stays as it was. On a machine of `cores` cores, more tasks than these share them.
"""


def makespan(tasks, slots, gap, cores=None):
    """Seconds until the last of some tasks ends."""
    waiting, running, now = list(tasks), [], 0.0
    while waiting or running:
        while waiting and len(running) < slots:
            # What is left of the gap, and of the task.
            running.append([gap, waiting.pop(0)])
        working = sum(1 for left, _ in running if left <= 0)
        speed = min(1.0, cores / working) if cores and working else 1.0
        step = min(left if left > 0 else work / speed for left, work in running)
        for task in running:
            if task[0] > 0:
                task[0] -= step
                if task[0] < 1e-9:
                    task[0] = 0
            else:
                task[1] -= step * speed
        running = [task for task in running if task[0] > 0 or task[1] > 1e-9]
        now += step
    return now


def lengths(tasks):
    return [end - begin for begin, end in tasks]


def gap(tasks):
    """The mean time from the end of a task to the beginning of the next, of tasks that came one after the other."""
    between = [later[0] - earlier[1] for earlier, later in zip(tasks, tasks[1:])]
    return max(0.0, sum(between) / len(between)) if between else 0.0


class Model:
    """Of the jobs of a run with one slot that took so many seconds."""

    def __init__(self, jobs, seconds):
        self.phases = [(lengths(tasks), gap(tasks)) for job in jobs for tasks in (job["maps"], job["reduces"]) if tasks]
        self.rest = seconds - sum(makespan(tasks, 1, between) for tasks, between in self.phases)

    def seconds(self, slots, cores=None):
        return self.rest + sum(makespan(tasks, slots, between, cores) for tasks, between in self.phases)

    def work_only(self, slots):
        """Of the tasks alone, on a core for each slot."""
        return sum(makespan(tasks, slots, 0.0) for tasks, _ in self.phases)

    def work(self):
        """Seconds of all tasks together."""
        return sum(sum(tasks) for tasks, _ in self.phases)
