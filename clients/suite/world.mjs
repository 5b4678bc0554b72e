// What every case needs: an agent on a fresh thread, the server's other calls, the provider's gates and records.
import { HttpAgent } from "@ag-ui/client";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const { FRONTDESK_URL, FRONTDESK_TOKEN, PROVIDER_CONTROL, PROVIDER_RECORD } = process.env;
const headers = { authorization: `Bearer ${FRONTDESK_TOKEN}` };

export function agent(threadId = randomUUID()) {
  return new HttpAgent({ url: `${FRONTDESK_URL}/v1/agui`, threadId, headers });
}

// Adds a user message and runs; gives back the kinds of events, what went wrong, and the texts.
export async function say(agent, text, watch = {}) {
  agent.addMessage({ id: randomUUID(), role: "user", content: text });
  return run(agent, watch);
}

export async function run(agent, watch = {}) {
  const seen = { kinds: [], errors: [], events: [], runId: undefined };
  const runId = randomUUID();
  const subscriber = {
    onEvent: ({ event }) => {
      seen.kinds.push(event.type);
      seen.events.push(event);
      watch.event?.(event);
    },
    onRunErrorEvent: ({ event }) => seen.errors.push(event.code),
    onRunFailed: ({ error }) => seen.errors.push(String(error)),
  };
  seen.runId = runId;
  await Promise.race([agent.runAgent({ runId, tools: [] }, subscriber), late("runAgent")]);
  return seen;
}

function late(what) {
  return pause(30_000, undefined, { ref: false }).then(() => Promise.reject(new Error(`${what} took 30 s`)));
}

export async function get(path, accept = "application/json") {
  return fetch(`${FRONTDESK_URL}${path}`, { headers: { ...headers, accept }, signal: AbortSignal.timeout(30_000) });
}

// `role: text` lines of the hydrated thread, and the rest of the answer.
export async function hydrate(threadId) {
  const answer = await (await get(`/v1/agui?threadId=${encodeURIComponent(threadId)}`)).json();
  const text = (message) => message.parts.filter((part) => part.type === "text").map((part) => part.content).join("");
  return { ...answer, lines: answer.messages.map((message) => `${message.role}: ${text(message)}`) };
}

export async function status(runId, wanted) {
  for (const until = Date.now() + 30_000; Date.now() < until; await pause(20)) {
    const answer = await get(`/v1/runs/${runId}`);
    if (answer.ok && (await answer.json()).status === wanted) return;
  }
  throw new Error(`${runId} did not become ${wanted}`);
}

export function open(gate) {
  writeFileSync(join(PROVIDER_CONTROL, gate), "");
}

export async function reached(gate) {
  for (const until = Date.now() + 30_000; Date.now() < until; await pause(5)) {
    if (existsSync(join(PROVIDER_CONTROL, `${gate}.reached`))) return;
  }
  throw new Error(`nothing came to the gate ${gate}`);
}

// Bodies of the provider's requests whose last user message holds `text`.
export function asked(text) {
  const lines = readFileSync(PROVIDER_RECORD, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
  const bodies = lines.filter((line) => line.body).map((line) => line.body);
  // The clock in it moves on between two requests.
  for (const row of bodies.flatMap((body) => body.messages)) {
    if (typeof row.content === "string") row.content = row.content.replace(/<context>.*?<\/context>/gs, "").trim();
  }
  return bodies.filter((body) => JSON.stringify(body.messages.findLast((row) => row.role === "user")).includes(text));
}

// The client's own rows as `role: text` lines.
export function rows(agent) {
  return agent.messages.map((message) => `${message.role}: ${message.content ?? ""}`);
}
