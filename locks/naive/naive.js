const net = require("node:net");

let nodes;
const leases = new Map();

function ask(...words) {
  const [host, port] = nodes[0].split(":");
  return new Promise((resolve, reject) => {
    const c = net.connect({ host, port, timeout: 1000 }, () => c.write(words.join(" ") + "\r\n"));
    c.on("data", (reply) => resolve(String(reply).trim()) || c.destroy());
    c.on("timeout", () => c.destroy(new Error("timed out")));
    c.on("error", reject);
    c.on("close", () => reject(new Error("closed")));
  });
}

const say = (answer) => console.log(JSON.stringify(answer));

require("node:readline").createInterface({ input: process.stdin }).on("line", async (line) => {
  const r = JSON.parse(line);
  try {
    if (r.type === "init") {
      nodes = r.init.nodes;
      say({ type: "ready", re: r.id, library: "naive.js", version: "1", can: ["one-node"] });
    } else if (r.type === "try-lock") {
      const reply = await ask("SET", r.resource, "taken", "NX", "PX", Math.trunc(r.ttl_ms));
      leases.set(r.id, r.resource);
      say({ type: reply === "+OK" ? "granted" : "refused", re: r.id });
    } else if (r.type === "unlock") {
      await ask("DEL", leases.get(r.lease));
      say({ type: "released", re: r.id });
    }
  } catch (e) {
    say({ type: "unknown", re: r.id, reason: e.message });
  }
});
