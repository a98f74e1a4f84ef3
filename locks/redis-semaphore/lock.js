// The lock program of redis-semaphore on ioredis, both with their defaults, for tier live: its Mutex, on one Redis, or with
// --redlock its RedlockMutex, on independent masters.

import { readFileSync } from "node:fs";
import readline from "node:readline";
import Redis from "ioredis";
import { Mutex, RedlockMutex, TimeoutError } from "redis-semaphore";

const about = JSON.parse(readFileSync(new URL("node_modules/redis-semaphore/package.json", import.meta.url)));
const redlock = process.argv.includes("--redlock");
const forever = 365 * 24 * 3600 * 1000; // it renews a lease until that is released or lost

const leases = new Map(); // by the id of the request
const waiting = new Map(); // how to give a request up, by its id
let make;

const say = (answer) => process.stdout.write(JSON.stringify(answer) + "\n");

// A renewal that fails with an error rejects a promise of the library's own, which would end the process. The library leaves such
// errors to its callers (https://github.com/swarthy/redis-semaphore/issues/199) and goes on to renew the lease.
process.on("unhandledRejection", (e) => console.error(e));

async function lock(r) {
  const limits = r.type === "try-lock" ? { acquireAttemptsLimit: 1 } : { acquireTimeout: r.wait_ms ?? Infinity };
  const onLockLost = (e) => say({ type: "lost", lease: r.id, reason: e.message });
  const lease = make(r.resource, { lockTimeout: r.ttl_ms, onLockLost, ...limits });
  const giveUp = new AbortController();
  waiting.set(r.id, giveUp);
  await lease.acquire(giveUp.signal).finally(() => waiting.delete(r.id));
  leases.set(r.id, lease);
  say({ type: "granted", re: r.id, valid_ms: forever });
}

async function unlock(r) {
  await leases.get(r.lease).release(); // it does not tell whether there was anything to release
  say({ type: "released", re: r.id });
}

function init(r) {
  const clients = r.init.nodes.slice(0, redlock ? undefined : 1).map((address) => {
    const [host, port] = address.split(":");
    const client = new Redis({ host, port: Number(port) });
    client.on("error", () => {}); // of a connection; calls have errors of their own
    return client;
  });
  make = (key, options) => (redlock ? new RedlockMutex(clients, key, options) : new Mutex(clients[0], key, options));
  const can = ["wait", "until", "lost", "renew", "cancel"].concat(redlock ? [] : "one-node");
  say({ type: "ready", re: r.id, library: "redis-semaphore", version: about.version, can, keys: ["mutex:{resource}"] });
}

const does = { "try-lock": lock, lock, unlock };

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const r = JSON.parse(line);
  if (r.type === "init") return init(r);
  if (r.type === "cancel") return waiting.get(r.call)?.abort();
  does[r.type](r).catch((e) => {
    // It gives up, by itself or when it is told to, between attempts: before the next, and when the last has failed.
    const refused = e instanceof TimeoutError || e.name === "AbortError";
    say({ type: refused ? "refused" : "unknown", re: r.id, reason: e.message });
  });
});
