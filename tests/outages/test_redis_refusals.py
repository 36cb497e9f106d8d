"""A refusal by Redis ends the start; an unreachable or full Redis does not."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from tests.fakes import FaultUpstream, free_port, wait_until
from tests.fakes.in_process import PRICED, managed
from tests.fakes.ports import accepts_connections
from tests.fakes.processes import PortalProcess, RedisProcess
from tests.outages.stored import PLATE, SECRET, is_stored, lookup

redis = pytest.importorskip("redis", reason="redis-py is not installed")

PASSWORD = "correct-horse-battery"
# The access rights that docs/operating.md lists.
RIGHTS = (
    "~portal:* ~LIMITS* +@read +@write +@connection +@scripting +time +info +config|get "
    "+bgsave +bgrewriteaof"
)


class Configured(RedisProcess):
    """A Redis with further options, such as ``--requirepass``."""

    def __init__(self, *options: str) -> None:
        super().__init__()
        self.command += [word.replace("{free port}", str(free_port())) for word in options]

    def answers(self) -> bool:
        return accepts_connections(self.port)  # PING may need a password


@contextmanager
def running(*options: str) -> Iterator[Configured]:
    with Configured(*options) as server:
        yield server


def settings(upstream: FaultUpstream, url: str) -> Mapping[str, str]:
    return managed(upstream.url) | PRICED | {"PORTAL_REDIS_URL": url, "PORTAL_SECRET_KEY": SECRET}


def address(server: RedisProcess, credential: str = "", database: int = 0) -> str:
    return f"redis://{credential}127.0.0.1:{server.port}/{database}"


def make_replica(server: RedisProcess, stack: ExitStack) -> None:
    primary = stack.enter_context(running())
    with redis.Redis.from_url(address(server)) as client:
        client.replicaof("127.0.0.1", primary.port)
        wait_until(lambda: client.info("replication")["master_link_status"] == "up", "the replica")


def make_cluster(server: RedisProcess, _stack: ExitStack) -> None:
    with redis.Redis.from_url(address(server)) as client:
        client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        wait_until(lambda: client.cluster("info")["cluster_state"] == "ok", "the cluster")


def make_user(rights: str) -> object:
    def make(server: RedisProcess, _stack: ExitStack) -> None:
        with redis.Redis.from_url(address(server)) as client:
            rules = ("on", f">{PASSWORD}", *rights.split())
            client.execute_command("ACL", "SETUSER", "portal", *rules)

    return make


def nothing(_server: RedisProcess, _stack: ExitStack) -> None: ...


REFUSALS = {
    "wrong password": (["--requirepass", "another"], f":{PASSWORD}@", 0, nothing, "Authentication"),
    "no password": (["--requirepass", "another"], "", 0, nothing, "Authentication"),
    "unknown user": ([], f"nobody:{PASSWORD}@", 0, nothing, "Authentication"),
    "user without scripts": (
        *([], f"portal:{PASSWORD}@", 0, make_user("~* +@all -@scripting"), "NoPermission"),
    ),
    "user without writes": (
        *([], f"portal:{PASSWORD}@", 0, make_user("~* +@all -@write"), "Response"),
    ),
    "user without the keys": (
        *([], f"portal:{PASSWORD}@", 0, make_user("~other:* +@all"), "NoPermission"),
    ),
    "user without scans": (
        *([], f"portal:{PASSWORD}@", 0, make_user("~* +@all -scan"), "NoPermission"),
    ),
    "read-only replica": ([], "", 0, make_replica, "ReadOnly"),
    "cluster mode": (
        # The default cluster port is the server's port plus 10,000, and may be in use.
        ["--cluster-enabled", "yes", "--cluster-port", "{free port}"],
        *("", 0, make_cluster, "ClusterCrossSlot"),
    ),
    "database that does not exist": ([], "", 99, nothing, "Response"),
}


@pytest.mark.long
@pytest.mark.parametrize("case", REFUSALS)
def test_refusing_redis_ends_the_start_with_one_line(upstream: FaultUpstream, case: str) -> None:
    options, credential, database, arrange, kind = REFUSALS[case]
    with ExitStack() as stack:
        server = stack.enter_context(running(*options))
        arrange(server, stack)  # type: ignore[operator]
        made = PortalProcess(settings(upstream, address(server, credential, database)), workers=1)
        portal = stack.enter_context(closing(made))
        with pytest.raises(AssertionError, match="ended with 1:"):
            portal.start()
        assert portal.output.count("\n") == 1, portal.output
        assert portal.output.startswith(
            f"dossie-veicular: cannot start: Redis refuses the portal: {kind}Error: "
        )
        assert PASSWORD not in portal.output


@pytest.mark.long
def test_documented_rights_suffice(upstream: FaultUpstream) -> None:
    with running() as server:
        make_user(RIGHTS)(server, ExitStack())  # type: ignore[operator]
        url = address(server, f"portal:{PASSWORD}@")
        with PortalProcess(settings(upstream, url), workers=2) as portal:
            assert lookup(portal, PLATE).status == 200
            assert is_stored(portal, PLATE) == {True}
            form = {"token": "wrong"}
            for _ in range(3):
                portal.post("/entrar", data=form)
            purged = portal.command_line("purge", PLATE)
            assert purged.returncode == 0, purged.stderr
            assert upstream.count() == 1
            assert "warning" not in portal.output, portal.output


@pytest.mark.long
def test_probe_leaves_nothing_behind_and_no_purge(upstream: FaultUpstream, tmp_path: Path) -> None:
    with running() as server, redis.Redis.from_url(address(server)) as client:
        shared = {**settings(upstream, address(server)), "PORTAL_DATA_DIR": str(tmp_path)}
        with PortalProcess(shared, workers=1) as portal:
            assert lookup(portal, PLATE).status == 200
            (purges,) = client.scan_iter("portal:purges:*")
            numbers = client.hgetall(purges)
        with PortalProcess(shared, workers=1):
            assert client.hgetall(purges) == numbers
            assert [key for key in client.scan_iter() if b"probe" in key] == []


def test_redis_out_of_reach_is_no_refusal(upstream: FaultUpstream) -> None:
    url = f"redis://:{PASSWORD}@127.0.0.1:{free_port()}/0"
    with PortalProcess(settings(upstream, url), workers=1) as portal:
        assert "Redis is out of reach at the start: ConnectionError, " in portal.output
        assert PASSWORD not in portal.output
        assert lookup(portal, PLATE).status == 200


@pytest.mark.long
def test_full_redis_is_no_refusal(upstream: FaultUpstream) -> None:
    options = ("--maxmemory", "100kb", "--maxmemory-policy", "noeviction")
    with (
        running(*options) as server,
        PortalProcess(settings(upstream, address(server)), workers=1) as portal,
    ):
        assert "Redis cannot store answers at the start: OutOfMemoryError" in portal.output
        assert [lookup(portal, PLATE).status for _ in range(5)] == [200] * 5
        assert upstream.count() == 1
