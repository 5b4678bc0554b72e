// Every client through every case; at the end, what passed the wires is looked at event by event.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { cases as otherCases } from "./cases.mjs";
import { toolCases } from "./tool-cases.mjs";
import agUi from "./clients/ag-ui.mjs";
import copilotKit from "./clients/copilotkit.mjs";
import tanStack from "./clients/tanstack.mjs";
import { complaints } from "./schema.mjs";
import { streams } from "./wire.mjs";

// For trying one thing: CASES=tools leaves the other cases out, CLIENT all clients whose names do not hold it.
const { CASES, CLIENT: only } = process.env;
const cases = CASES === "tools" ? toolCases : { ...otherCases, ...toolCases };
const adapters = [...agUi, ...tanStack, ...copilotKit].filter(({ name }) => !only || name.includes(only));

// Of a lost socket, which it reports, HttpAgent also leaves a rejected promise behind.
function ignoreLostSockets() {
  const listeners = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", (error, promise) => {
    if (error instanceof TypeError && error.message === "terminated") return;
    for (const listener of listeners) listener(error, promise);
  });
}

describe("clients", { concurrency: 4 }, () => {
  before(ignoreLostSockets);
  for (const adapter of adapters) {
    describe(adapter.name, { concurrency: 1 }, () => {
      for (const [name, run] of Object.entries(cases)) test(name, () => run(adapter));
    });
  }
  after(() => {
    const { found, count } = complaints(streams);
    assert.deepEqual(found, []);
    assert.ok(count > 0, "no event was seen");
    console.log(`# ${count} events in ${streams.length} streams are AG-UI 1.0`);
  });
});
