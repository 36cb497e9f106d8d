"""A container's health check: exit 0 if the portal of this container is ready.

It requests /readyz, which calls no upstream. The portal also listens on loopback.
"""

import http.client
import os
import sys

TIMEOUT_S = 4


def main() -> None:
    port = int(os.environ.get("PORT") or "8000")
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", "/readyz")
        status = connection.getresponse().status
    except OSError as error:
        sys.exit(f"not ready: {error}")
    if status != http.client.OK:
        sys.exit(f"not ready: {status}")


if __name__ == "__main__":
    main()
