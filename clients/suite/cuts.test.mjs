// A socket cut at every event in turn, after it and in the middle of the next one, for the clients that come back:
// what they have in the end is to the byte what they have uncut.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, describe, test } from "node:test";
import { read } from "./clients/plain.mjs";
import tanStack from "./clients/tanstack.mjs";
import { close, page } from "./page.mjs";
import { complaints } from "./schema.mjs";
import { isPlace, lasting, streams, wire } from "./wire.mjs";
import { get, soon } from "./world.mjs";

const TEXT = "[[think so]][[say I ask]][[tool whoami {}]][[then]][[say it is wörld]]";

// Once, after the `at`-th event of a run's first stream.
function cutAfter(at) {
  let cuts = 0;
  const cut = (event, { stream, headers }) =>
    cuts === 0 && !headers["last-event-id"] && !isPlace(event) && lasting(stream).length === at && ++cuts > 0;
  return { cut, cuts: () => cuts };
}

// The stored events as one uncut stream.
async function joined(runId) {
  const answer = await get(`/v1/agui?runId=${runId}&offset=-1`, { accept: "*/*" });
  return (await answer.text()).replaceAll(": keepalive\n\n", "");
}

function withoutPlaces(text) {
  return text.replace(/id: .*\ndata: \{"type":"CUSTOM","name":"frontdesk\.queued".*\n\n/g, "");
}

// Ids are the server's and differ from run to run: each becomes the place where it is first seen.
function bare(rows) {
  const ids = new Map();
  const place = (id) => ids.get(id) ?? ids.set(id, `id${ids.size}`).get(id);
  const text = JSON.stringify(rows, (key, value) => (key === "createdAt" ? undefined : value));
  return text.replace(/[0-9A-HJKMNP-TV-Z]{26}|msg-\d+-\w+/g, place);
}

async function tanStackRows(faults) {
  const client = await page(tanStack[0], { faults, reconnect: { delayMs: 1 } });
  const turn = await soon("the turn", client.send(TEXT));
  assert.equal(turn.error, undefined);
  const rows = bare(client.chat.getMessages());
  const { requests } = client.wire;
  close(client);
  return { rows, length: lasting(requests.find(({ method }) => method === "POST").stream).length, requests };
}

describe("cuts", { concurrency: 2 }, () => {
  test("a plain reader, cut after every event", async () => {
    for (const half of [false, true]) {
      const own = await wire({ cut: () => true, half });
      const runId = randomUUID();
      const kept = await read(own.url, { threadId: randomUUID(), runId, text: TEXT });
      assert.equal(withoutPlaces(kept), await joined(runId));
      assert.ok(own.requests.length > 10);
      own.close();
    }
  });

  test("a plain reader, cut at each event in turn", async () => {
    const { length } = await tanStackRows();
    for (let at = 1; at < length; at++) {
      const { cut, cuts } = cutAfter(at);
      const own = await wire({ cut });
      const runId = randomUUID();
      const kept = await read(own.url, { threadId: randomUUID(), runId, text: TEXT });
      assert.equal(withoutPlaces(kept), await joined(runId), `cut at event ${at}`);
      assert.equal(cuts(), 1);
      own.close();
    }
  });

  test("TanStack, cut at each event in turn", async () => {
    const uncut = await tanStackRows();
    for (let at = 1; at < uncut.length; at++) {
      for (const half of [false, true]) {
        const { cut, cuts } = cutAfter(at);
        const { rows, requests } = await tanStackRows({ cut, half });
        assert.equal(rows, uncut.rows, `cut at event ${at}`);
        assert.equal(cuts(), 1);
        assert.equal(requests.filter(({ headers }) => headers["last-event-id"]).length, 1);
      }
    }
  });

  after(() => {
    const { found, count } = complaints(streams);
    assert.deepEqual(found, []);
    assert.ok(count > 0, "no event was seen");
    console.log(`# ${count} events in ${streams.length} streams are AG-UI 1.0`);
  });
});
