// That what is looked for in every stream is found where it is.
import assert from "node:assert/strict";
import { test } from "node:test";
import { complaints } from "./schema.mjs";

const STARTED = { type: "RUN_STARTED", threadId: "t", runId: "r" };
const FINISHED = { type: "RUN_FINISHED", threadId: "t", runId: "r" };
const frame = (event, n = 1) => `id: r:1.${n}\ndata: ${JSON.stringify(event)}\n\n`;

function found({ frames, rest = "", ended = true, version = "1.0", path = "/v1/agui" }) {
  return complaints([{ entry: { method: "POST", path, body: {} }, version, frames, rest, ended }]);
}

test("a good stream has nothing to complain of", () => {
  const usage = [{ provider: "p", model: "m", inputTokens: 1 }];
  const frames = [frame(STARTED), ": keepalive\n\n", frame({ ...FINISHED, usage, metadata: { tanstack: { model: "m" } } }, 2)];
  assert.deepEqual(found({ frames }), { found: [], count: 2 });
});

const good = [frame(STARTED), frame(FINISHED)];
for (const [name, stream] of Object.entries({
  "an event without an id": { frames: [`data: ${JSON.stringify(STARTED)}\n\n`, good[1]] },
  "CRLF": { frames: [good[0].replaceAll("\n", "\r\n"), good[1]] },
  "two lines of data": { frames: [frame(STARTED).replace("\n\n", "\ndata: {}\n\n"), good[1]] },
  "[DONE]": { frames: good, rest: "data: [DONE]\n" },
  "null": { frames: [frame({ ...STARTED, parentRunId: null }), good[1]] },
  "null in a value": { frames: [frame({ type: "CUSTOM", name: "n", value: { a: null } }), good[1]] },
  "a fraction": { frames: [frame({ ...STARTED, timestamp: 1.5 }), good[1]] },
  "an unknown event": { frames: [frame({ type: "SOMETHING" }), good[1]] },
  "a missing field": { frames: [frame({ type: "TEXT_MESSAGE_CONTENT", messageId: "m" }), good[1]] },
  "a key of our own": { frames: [frame({ ...STARTED, frontdesk: 1 }), good[1]] },
  "a key of our own in an outcome": { frames: [good[0], frame({ ...FINISHED, outcome: { type: "success", model: "m" } })] },
  "usage as an object": { frames: [good[0], frame({ ...FINISHED, usage: { inputTokens: 1 } })] },
  "metadata that is no object": { frames: [good[0], frame({ ...FINISHED, metadata: 1 })] },
  "two ends": { frames: [good[0], good[1], good[1]] },
  "no end": { frames: [good[0]] },
  "something after the end": { frames: [good[0], good[1], frame({ type: "CUSTOM", name: "n", value: 1 })] },
  "a cancelled outcome for an older client": { version: null, frames: [good[0], frame({ ...FINISHED, outcome: { type: "cancelled" } })] },
})) {
  test(`found: ${name}`, () => assert.notDeepEqual(found(stream).found, []));
}
