// The service worker: after the first visit the playground works without a network. A site that was built anew is loaded anew.
const cache = "redlocksim-VERSION";
const files = ["./", "index.html", "style.css", "app.js", "engine.js", "tour.js", "share.js", "editor.js", "licences.txt", "worker.js", "wasm_exec.js", "engine.wasm.gz"];

oninstall = event => event.waitUntil(caches.open(cache).then(c => c.addAll(files)).then(() => skipWaiting()));

onactivate = event => event.waitUntil(caches.keys()
  .then(names => Promise.all(names.filter(n => n.startsWith("redlocksim-") && n !== cache).map(n => caches.delete(n))))
  .then(() => clients.claim()));

onfetch = event => {
  if (event.request.method !== "GET") return;
  event.respondWith(caches.open(cache).then(c => c.match(event.request, {ignoreSearch: true})).then(found => found || fetch(event.request)));
};
