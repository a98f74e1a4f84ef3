import json, socket, sys

nodes, leases = [], {}


def do(*words):
    host, port = nodes[0].rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=1) as c:
        c.sendall((" ".join(words) + "\r\n").encode())
        return c.makefile().readline().strip()


def say(**answer):
    print(json.dumps(answer), flush=True)


for line in sys.stdin:
    r = json.loads(line)
    try:
        if r["type"] == "init":
            nodes = r["init"]["nodes"]
            say(type="ready", re=r["id"], library="naive.py", version="1", can=["one-node"])
        elif r["type"] == "try-lock":
            reply = do("SET", r["resource"], "taken", "NX", "PX", str(int(r["ttl_ms"])))
            leases[r["id"]] = r["resource"]
            say(type="granted" if reply == "+OK" else "refused", re=r["id"])
        elif r["type"] == "unlock":
            do("DEL", leases[r["lease"]])
            say(type="released", re=r["id"])
    except OSError as e:
        say(type="unknown", re=r["id"], reason=str(e))
