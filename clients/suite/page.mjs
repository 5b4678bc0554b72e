// One page a person has open: a client behind a wire of its own.
import { randomUUID } from "node:crypto";
import { wire } from "./wire.mjs";

// `faults` are the wire's; all else is the adapter's.
export async function page(adapter, { faults, ...options } = {}) {
  const own = await wire(faults);
  const client = adapter.open({ threadId: randomUUID(), ...options, url: own.url });
  return dress(client, own);
}

// The page closed as a browser closes it, its sockets with it, and opened again.
export async function reload(client, changes = {}) {
  close(client);
  return anotherTab(client, changes);
}

// The same thread on another page.
export async function anotherTab(client, changes = {}) {
  const own = await wire();
  const next = dress(await client.reopen({ ...changes, url: own.url }), own);
  return next;
}

export function close(client) {
  client.close?.();
  client.wire.close();
}

function dress(client, own) {
  client.wire = own;
  return client;
}
