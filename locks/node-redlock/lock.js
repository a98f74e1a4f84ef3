// The lock program of node-redlock on ioredis, both with their defaults, for tier live.

import { readFileSync } from "node:fs";
import readline from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import Redis from "ioredis";
import Redlock, { ExecutionError, ResourceLockedError } from "redlock";

const about = JSON.parse(readFileSync(new URL("node_modules/redlock/package.json", import.meta.url)));

const leases = new Map(); // by the id of the request
let locks;

const say = (answer) => process.stdout.write(JSON.stringify(answer) + "\n");
const valid = (lock) => Math.max(0, lock.expiration - Date.now());

async function acquire(r, settings, until) {
  for (;;) {
    try {
      return await locks.acquire([r.resource], r.ttl_ms, settings);
    } catch (e) {
      if (!(e instanceof ExecutionError) || Date.now() >= until) throw e; // it gives up after ten tries by default
    }
  }
}

async function lock(r) {
  const waits = r.type === "lock";
  const lease = await acquire(r, waits ? {} : { retryCount: 0 }, waits ? Date.now() + r.wait_ms : 0);
  leases.set(r.id, lease);
  say({ type: "granted", re: r.id, valid_ms: valid(lease) });
}

async function extend(r) {
  const lease = await leases.get(r.lease).extend(r.ttl_ms);
  leases.set(r.lease, lease); // an extended lock is another object
  say({ type: "extended", re: r.id, valid_ms: valid(lease) });
}

async function unlock(r) {
  await leases.get(r.lease).release();
  say({ type: "released", re: r.id });
}

// isRefused tells whether a call definitely failed. A lock that failed is released by the library. An extend or a release failed if
// so many nodes have lost the key that the others are no quorum; of a node that did not answer nobody knows what it did.
async function isRefused(type, e) {
  if (!(e instanceof ExecutionError)) return false;
  const last = e.attempts.at(-1);
  if (type === "lock" || type === "try-lock" || !last) return true; // it does not even try to extend a lease that is over
  const votes = await Promise.race([last, sleep(100)]); // which are known when all nodes have answered
  if (!votes) return false;
  const lost = [...votes.votesAgainst.values()].filter((why) => why instanceof ResourceLockedError).length;
  return votes.membershipSize - lost < votes.quorumSize;
}

function init(r) {
  const clients = r.init.nodes.map((address) => {
    const [host, port] = address.split(":");
    const client = new Redis({ host, port: Number(port) });
    client.on("error", () => {}); // of a connection; calls have errors of their own
    return client;
  });
  locks = new Redlock(clients);
  locks.on("error", () => {}); // of single nodes
  say({ type: "ready", re: r.id, library: "node-redlock", version: about.version, can: ["wait", "extend", "until"] });
}

const does = { "try-lock": lock, lock, extend, unlock };

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const r = JSON.parse(line);
  if (r.type === "init") return init(r);
  if (!does[r.type]) return;
  does[r.type](r).catch(async (e) => {
    say({ type: (await isRefused(r.type, e)) ? "refused" : "unknown", re: r.id, reason: String(e.message) });
  });
});
