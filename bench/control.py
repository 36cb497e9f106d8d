"""``python -m bench.control URL THREADS CPU_MS``: puts the same load on the machine as a batch.

The benchmark "batch" measures the portal beside a batch, and beside this process. This process
sends as many requests to the upstream and uses as much processor time as the batch process, at the
same low priority. It uses no files or locks of the portal. Any other load of this size would
therefore slow the portal down as much as this process does.
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
