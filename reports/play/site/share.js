// Links that carry a file: compressed in the fragment of the address, which no browser sends to a server.

// pack is the fragment for {text, seed, case, name}.
export async function pack(shared) {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(shared)), new CompressionStream("deflate-raw"));
  let binary = "";
  for (const b of bytes) binary += String.fromCharCode(b);
  return "s=" + btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// unpack reads a fragment, and rejects one that is damaged.
export async function unpack(fragment) {
  const binary = atob(fragment.slice(2).replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = await through(Uint8Array.from(binary, c => c.charCodeAt(0)), new DecompressionStream("deflate-raw"));
  const {text, seed, case: one, name} = JSON.parse(new TextDecoder().decode(bytes));
  if (typeof text !== "string") throw new Error("no text");
  const word = w => typeof w === "string" ? w : "";
  return {text, seed: Number.isSafeInteger(seed) && seed >= 0 ? seed : 0, case: word(one), name: word(name)};
}

async function through(bytes, transform) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(transform)).arrayBuffer());
}
