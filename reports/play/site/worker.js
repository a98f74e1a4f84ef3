// The worker of the playground: it runs the engine, so that the page never waits.
importScripts("wasm_exec.js");

let isReady = false;
const waiting = [];

function answer(request) {
  postMessage({answer: JSON.parse(redlocksim(JSON.stringify(request)))});
}

self.ready = () => {
  isReady = true;
  postMessage({ready: true});
  waiting.splice(0).forEach(answer);
};

onmessage = event => isReady ? answer(event.data) : waiting.push(event.data);

async function start() {
  const go = new Go();
  const packed = await fetch("engine.wasm.gz");
  if (!packed.ok) throw new Error(`engine.wasm.gz: ${packed.status}`);
  const bytes = new Response(packed.body.pipeThrough(new DecompressionStream("gzip")), {headers: {"Content-Type": "application/wasm"}});
  const {instance} = await WebAssembly.instantiateStreaming(bytes, go.importObject);
  await go.run(instance);
  throw new Error("the simulator has ended");
}

start().catch(error => postMessage({failed: String(error)}));
