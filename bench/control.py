"""``python -m bench.control URL THREADS CPU_MS``: asks and computes as much as a batch does.

What it costs hits is the machine's share of what a batch costs them: the processor's time, the
upstream's, and that of a lower priority. It touches no file and no process of the portal.
"""

import itertools
import sys
import threading
import time
import urllib.request

from portal.serving.batch_process import NICENESS
from portal.system.process import lower_priority


def main(url: str, threads: int, cpu_s: float) -> None:
    lower_priority(NICENESS)
    numbers = itertools.count()

    def ask() -> None:
        while True:
            began = time.thread_time()
            plate = f"ZZZ{next(numbers) % 10_000:04}"
            with urllib.request.urlopen(f"{url}/detran/v1/decode/{plate}", timeout=30) as answer:
                answer.read()
            while time.thread_time() - began < cpu_s:
                sum(range(200))

    for _ in range(threads - 1):
        threading.Thread(target=ask, daemon=True).start()
    ask()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]) / 1000)
