"""The scripted upstream: a thread for each connection, and a script for each request."""

import fcntl
import select
import socket
import struct
import sys
import termios
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

from tests.fakes import tiers
from tests.hostile.streams.script import End, Endless, Pause, Script, Send, clean

_GIVE_UP_S = 5.0
_ENDLESS_PAUSE_S = 0.001


class Playback:
    """What the upstream received and sent for one request path."""

    def __init__(self, serial: str, script: Script, rows: Callable[[], int]) -> None:
        self.serial = serial
        self.early = script.early
        self.received = 0
        self.bytes_sent = False  # whether a byte was sent in response to the first request
        self.last_sent_at = 0.0  # on the monotonic clock
        self.unannounced = False  # a request was received before its ledger row was begun
        self._script = script
        self._rows = rows
        self._begun = 0
        self._playing = 0
        self._change = threading.Condition()

    def begin(self) -> Script:
        """Begin to answer a request and return its script.

        An ``early`` script begins after the request's head, and the request does not count as
        received.
        """
        with self._change:
            self._playing += 1
            self._begun += 1
            self.received += not self.early
            self.unannounced |= self._rows() < self._begun
            return clean(self.serial) if self._script.mends and self._begun > 1 else self._script

    def sending(self) -> None:
        self.last_sent_at = time.monotonic()
        if self._begun == 1:
            self.bytes_sent = True

    def finish(self) -> None:
        with self._change:
            self._playing -= 1
            self._change.notify_all()

    def settle(self) -> bool:
        """Wait until no script of this path is playing; return whether that happened in time."""
        with self._change:
            return self._change.wait_for(lambda: self._playing == 0, 2 * _GIVE_UP_S)


class ScriptedServer:
    """Counts completely received requests by path, and plays the path's script."""

    def __init__(self) -> None:
        self._listener = socket.socket()
        # A small buffer, so that a client is still sending its large body when it gets the answer.
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(1024)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.errors: list[BaseException] = []
        self._playbacks: dict[str, Playback] = {}
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._acceptor = threading.Thread(target=self._accept, name="acceptor", daemon=True)

    def register(self, path: str, playback: Playback) -> None:
        self._playbacks[path] = playback

    def forget(self, path: str) -> None:
        self._playbacks.pop(path, None)

    def __enter__(self) -> Self:
        tiers.require("upstream", "slow", "long")
        self._acceptor.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._acceptor.join(10)
        with self._lock:
            for connection in self._connections:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        ends_at = time.monotonic() + 10
        while self._connections and time.monotonic() < ends_at:
            time.sleep(0.01)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self._connections.add(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.settimeout(60)
            _Connection(connection, self._playbacks).serve()
        except OSError:
            pass  # the client closed, or a script reset the connection
        except BaseException as error:
            self.errors.append(error)
        finally:
            with self._lock:  # otherwise, __exit__ could shut down a reused descriptor
                self._connections.discard(connection)
                connection.close()


class _Connection:
    """One accepted connection: reads requests and plays scripts until one side closes."""

    def __init__(self, connection: socket.socket, playbacks: dict[str, Playback]) -> None:
        self._socket = connection
        self._playbacks = playbacks
        self._received = b""
        self._body_size = 0

    def serve(self) -> None:
        while (path := self._request()) is not None:
            playback = self._playbacks.get(path)
            if playback is None or not self._read_body(playback):
                return  # the path is no longer registered, or the client closed
            script = playback.begin()
            try:
                end = self._play(script, playback)
            finally:
                playback.finish()
            if end is not End.KEEP:
                return

    def _request(self) -> str | None:
        """Read the next head and return its path; None when the client has closed."""
        while b"\r\n\r\n" not in self._received:
            if not self._fill():
                return None
        head, _, self._received = self._received.partition(b"\r\n\r\n")
        request_line, *headers = head.split(b"\r\n")
        self._body_size = 0
        for line in headers:
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                self._body_size = int(value)
        return request_line.split(b" ")[1].decode()

    def _read_body(self, playback: Playback) -> bool:
        """Read the request body; return False if the client closes before its end."""
        if playback.early:
            return True
        while len(self._received) < self._body_size:
            if not self._fill():
                return False
        self._received = self._received[self._body_size :]
        return True

    def _fill(self) -> bool:
        data = self._socket.recv(65_536)
        self._received += data
        return bool(data)

    def _play(self, script: Script, playback: Playback) -> End:
        packet = bytearray()
        for step in script.steps:
            if isinstance(step, Send):
                packet += step.data
                continue
            self._send(packet, playback)
            match step:
                case Pause(seconds=seconds, idle=True):
                    if self._received or self._readable(seconds):
                        return End.KEEP
                case Pause(seconds=seconds):
                    time.sleep(seconds)
                case Endless(data=data):
                    playback.sending()
                    self._send_without_end(data)
                    return End.CLOSE
        self._send(packet, playback)
        if script.end is End.RESET:
            self._wait_until_received()
            linger = struct.pack("ii", 1, 0)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self._close()
        elif script.end is End.CLOSE:
            self._close()
        elif script.end is End.HANG:
            self._readable(_GIVE_UP_S)
        return script.end

    def _send(self, packet: bytearray, playback: Playback) -> None:
        if packet:
            playback.sending()
            self._socket.sendall(packet)
            packet.clear()

    def _wait_until_received(self) -> None:
        """Wait until the client has acknowledged all bytes.

        A reset would drop bytes that the system has not sent yet.
        """
        ends_at = time.monotonic() + _GIVE_UP_S
        while sys.platform == "linux" and time.monotonic() < ends_at:
            unacknowledged = fcntl.ioctl(self._socket, termios.TIOCOUTQ, bytes(4))
            if not any(unacknowledged) or self._readable(0.0005):
                return  # all bytes have arrived, or the client has closed

    def _close(self) -> None:
        """Close at once, so that the caller's next request finds a closed connection."""
        self._socket.close()

    def _send_without_end(self, data: bytes) -> None:
        ends_at = time.monotonic() + _GIVE_UP_S
        while time.monotonic() < ends_at:
            self._socket.sendall(data)
            time.sleep(_ENDLESS_PAUSE_S)

    def _readable(self, timeout_s: float) -> bool:
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return bool(poll.poll(timeout_s * 1000))
