// How every case begins: a page on a thread of its own, and what may be asked of it.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { page } from "./page.mjs";
import { ofParts } from "./transcript.mjs";
import { events, isConnect } from "./wire.mjs";
import { hydrate, soon } from "./world.mjs";

// Kinds of events, each row of equal ones once.
const once = (kinds) => kinds.filter((kind, at) => kind !== "CUSTOM" && kind !== kinds[at - 1]);

// A page on a thread of its own, and what it and the server then agree on.
export async function begin(adapter, options) {
  const threadId = randomUUID();
  const client = await page(adapter, { threadId, ...options });
  const shows = async (...lines) => {
    assert.deepEqual(client.rows(), lines);
    assert.deepEqual(ofParts((await hydrate(threadId)).messages), lines);
  };
  return { client, threadId, shows };
}

export function posts(client) {
  return client.wire.requests.filter((entry) => entry.method === "POST" && entry.stream && !isConnect(entry));
}

export const runOf = (client, n = -1) => events(posts(client).at(n).stream)[0].runId;
export const kinds = (client, n = -1) => once(events(posts(client).at(n).stream).map(({ type }) => type));

export async function say(client, text) {
  return soon(`an answer to ${text}`, client.send(text));
}

export function deferred() {
  const self = {};
  self.promise = new Promise((resolve, reject) => Object.assign(self, { resolve, reject }));
  return self;
}
