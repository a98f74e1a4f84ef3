// The first minute: Kleppmann's clock jump in five steps, and then settings of one's own.
import {ask} from "./engine.js";

const jump = "timeline[2].fault.clock-step.by", drift = "lock.drift.constant";

async function steps(file) {
  const changed = async settings => {
    let text = file;
    for (const [path, word] of Object.entries(settings)) text = (await ask({do: "set", text, path, word})).ok;
    return text;
  };
  return [
    {text: await changed({[jump]: "1s"}), say: "Client 1 asks five Redis nodes for a lock and gets three of them: A, B and C. Client 2 asks too, gets only D and E, and is turned away. Three of five is a majority, and two majorities always share a node. That is all of Redlock."},
    {text: file, say: "Now the clock of node C jumps ahead by ten seconds: an operator sets it, or a time daemon does. C believes that client 1's key has expired and forgets it. So C votes a second time: client 2 has C, D and E. Two clients hold one lock."},
    {text: await changed({[jump]: "1.5s"}), point: jump, say: "Where does it tip? Drag the clock step. The track shows it: the lock holds while the step is shorter than what is left of the key, and breaks beyond. Whoever counts on Redlock counts on clocks that never jump that far."},
    {text: await changed({[jump]: "3s", [drift]: "3s"}), point: drift, say: "antirez answered: leave room for clock errors. C jumps three seconds here, and client 1 trusts its lock three seconds less: the lock holds. Drag the drift allowance down, and it breaks. The allowance must cover the longest jump there will ever be, and no allowance covers one as long as the TTL."},
    {load: "34-fencing/paused", say: "Kleppmann's remedy works whatever the clocks do: every lock comes with a number that only grows, and the storage refuses a number lower than the last one it has seen. Here client 1 is paused past the end of its lease, and its late write is turned away."},
  ];
}

export function tour({show, load, point, audit}) {
  const $ = id => document.getElementById(id);
  let all, at;
  const go = async to => {
    at = to;
    const step = all[at];
    $("tour").hidden = false;
    $("tour-text").textContent = step.say;
    $("tour-at").textContent = `${at + 1} of ${all.length}`;
    $("tour-back").disabled = at === 0;
    $("tour-next").textContent = at === all.length - 1 ? "Now my settings" : "Next";
    await (step.load ? load(step.load) : show(step.text));
    point(step.point);
  };
  const end = () => {
    $("tour").hidden = true;
    point();
  };
  $("open-tour").onclick = async () => {
    all ??= await steps((await ask({do: "file", name: "17-clock-jump"})).ok);
    go(0);
  };
  $("tour-next").onclick = () => {
    if (at < all.length - 1) return go(at + 1);
    end();
    audit();
  };
  $("tour-back").onclick = () => go(at - 1);
  $("tour-end").onclick = end;
}
