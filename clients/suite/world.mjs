// What every case needs besides its client: the server's other calls, the provider's gates and what it was asked.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const { FRONTDESK_URLS, FRONTDESK_TOKEN, FRONTDESK_FOREIGN_TOKEN, PROVIDER_CONTROL, PROVIDER_RECORD } = process.env;
const SERVERS = FRONTDESK_URLS.split(",");
const PATIENCE = 30_000;

// The person of most cases, and one of another organization.
export const PERSON = { authorization: `Bearer ${FRONTDESK_TOKEN}` };
export const FOREIGNER = { authorization: `Bearer ${FRONTDESK_FOREIGN_TOKEN}` };

// Of several processes each answers in its turn.
let turn = 0;
export function get(path, { accept = "application/json", headers = PERSON } = {}) {
  const url = `${SERVERS[turn++ % SERVERS.length]}${path}`;
  return fetch(url, { headers: { ...headers, accept }, signal: AbortSignal.timeout(PATIENCE) });
}

export async function until(what, holds) {
  for (const end = Date.now() + PATIENCE; Date.now() < end; await pause(5)) {
    const value = await holds();
    if (value) return value;
  }
  throw new Error(`${what}: not within ${PATIENCE / 1000} s`);
}

// A promise that fails instead of never settling.
export function soon(what, promise) {
  const late = pause(PATIENCE, undefined, { ref: false }).then(() => Promise.reject(new Error(`${what} took too long`)));
  return Promise.race([promise, late]);
}

export function status(runId, wanted) {
  return until(`${runId} ${wanted}`, async () => {
    const answer = await get(`/v1/runs/${encodeURIComponent(runId)}`);
    return answer.ok && (await answer.json()).status === wanted;
  });
}

// The thread as its page reopens it.
export async function hydrate(threadId, headers = PERSON) {
  return (await get(`/v1/agui?threadId=${encodeURIComponent(threadId)}`, { headers })).json();
}

export function openGate(gate) {
  writeFileSync(join(PROVIDER_CONTROL, gate), "");
}

export function reached(gate) {
  return until(`the gate ${gate}`, () => existsSync(join(PROVIDER_CONTROL, `${gate}.reached`)));
}

// Bodies of the provider's requests whose last user message holds `text`.
export function asked(text) {
  const lines = readFileSync(PROVIDER_RECORD, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
  const bodies = lines.filter((line) => line.body).map((line) => line.body);
  return bodies.filter((body) => JSON.stringify(body.messages.findLast((row) => row.role === "user")).includes(text));
}
