#!/usr/bin/python3
"""The lock program of redis-py's Lock, for tier live: one thread a request, as its locks are made for threads."""

import json
import sys
import threading
import time

import redis
from redis.exceptions import LockError, LockNotOwnedError

out = threading.Lock()
leases = {}  # by the id of the request


def say(**answer):
    with out:
        print(json.dumps(answer), flush=True)


def lock(client, r):
    lease = client.lock(r["resource"], timeout=r["ttl_ms"] / 1000, thread_local=False)
    began = time.monotonic()
    try:
        got = lease.acquire(blocking=r["type"] == "lock", blocking_timeout=r.get("wait_ms", 0) / 1000 or None)
    except redis.RedisError as e:
        return say(type="unknown", re=r["id"], reason=repr(e))
    if not got:
        return say(type="refused", re=r["id"])
    leases[r["id"]] = lease
    say(type="granted", re=r["id"])


def about(lease, r, done, call):
    try:
        call()
        say(type=done, re=r["id"])
    except LockError as e:  # it was not held any more
        say(type="refused", re=r["id"], reason=repr(e))
    except redis.RedisError as e:
        say(type="unknown", re=r["id"], reason=repr(e))


def do(client, r):
    kind, lease = r["type"], leases.get(r.get("lease"))
    if kind in ("try-lock", "lock"):
        lock(client, r)
    elif kind == "unlock":
        about(lease, r, "released", lease.release)
    elif kind == "extend":
        about(lease, r, "extended", lambda: lease.extend(r["ttl_ms"] / 1000, replace_ttl=True))
    else:
        say(type="unknown", re=r["id"], reason="there is no such request")


client = None
for line in sys.stdin:
    r = json.loads(line)
    if r["type"] == "init":
        host, port = r["init"]["nodes"][0].rsplit(":", 1)
        client = redis.Redis(host, int(port))
        say(type="ready", re=r["id"], library="redis-py", version=redis.__version__, can=["wait", "extend", "one-node"])
    elif r["type"] != "cancel":
        threading.Thread(target=do, args=(client, r), daemon=True).start()
