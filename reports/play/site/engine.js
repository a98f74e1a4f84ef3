// The page's side of the engine: questions and answers, one at a time; what has become pointless is never asked.

let worker, running, failed;
const queue = [];

// onFailure says what to do when the engine cannot be started, or has ended.
export function onFailure(act) { failed = act; }

function start() {
  worker = new Worker("worker.js");
  worker.onmessage = ({data}) => {
    if (data.failed) return failed?.(data.failed);
    if (data.ready) return;
    const {settle} = running;
    running = undefined;
    settle(data.answer);
    pump();
  };
}

function pump() {
  if (running || !queue.length) return;
  // Questions of somebody who waits go before those that fill in the tracks of sliders.
  const at = Math.max(0, queue.findIndex(q => !q.later));
  [running] = queue.splice(at, 1);
  worker.postMessage(running.request);
}

// ask asks the engine, and promises its answer: {ok} or {error, mistakes}. A question of a kind replaces those of its kind that
// have not been asked, which are then never answered; later ones let others go first.
export function ask(request, {kind, later} = {}) {
  if (!worker) start();
  if (kind) forget(kind);
  return new Promise(settle => {
    queue.push({request, kind, later, settle});
    pump();
  });
}

// forget drops the questions of a kind that have not been asked.
export function forget(kind) {
  for (let i = queue.length - 1; i >= 0; i--) if (queue[i].kind === kind) queue.splice(i, 1);
}

// stop ends what is being worked on, and starts the engine anew. What was asked is answered with an error.
export function stop() {
  worker?.terminate();
  const was = running;
  running = undefined;
  start();
  was?.settle({error: "stopped"});
  pump();
}
