// The tools a client brings: called in the page, answered by the next request, under every client alike.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { begin, deferred, posts, say } from "./begin.mjs";
import { close, reload } from "./page.mjs";
import { ofParts } from "./transcript.mjs";
import { asked, hydrate, soon, until } from "./world.mjs";
import { events } from "./wire.mjs";

const LOCATION = { lat: 1.5, lng: 2 };
const TIME = { hour: 7 };
const never = () => new Promise(() => {});

// A tool of the page, and how often it was called.
function tool(name, run) {
  const self = { name, description: `The page's ${name}`, input: z.object({ precise: z.boolean() }), calls: 0 };
  self.run = (input) => {
    self.calls += 1;
    assert.deepEqual(input, { precise: true });
    return run();
  };
  return self;
}

const call = (name) => `[[tool ${name} {"precise":true}]]`;
const calls = (name) => `calls ${name} {"precise":true}`;
const gets = (value) => `gets ${JSON.stringify(value)}`;
const last = (client, n) => events(posts(client)[n].stream).at(-1);

// What the model got for its calls, in the request that answers `mark`.
const results = (mark, n) => asked(mark)[n].messages.filter(({ role }) => role === "tool").map(({ content }) => content);
// Of what it was offered, the page's.
const offered = (mark, n) => asked(mark)[n].tools.map((tool) => tool.function).filter(({ name }) => name.startsWith("get_"));

// The leg ended on its calls, as this client is told of them.
function waitsFor(adapter, client, n, names) {
  const seen = events(posts(client)[n].stream);
  const open = seen.filter(({ type }) => type === "TOOL_CALL_START").map(({ toolCallId }) => toolCallId);
  const { type, outcome } = seen.at(-1);
  assert.equal(type, "RUN_FINISHED");
  assert.equal(open.length, names.length);
  if (adapter.interrupts) {
    assert.deepEqual(outcome.interrupts.map(({ id, toolCallId }) => [id, toolCallId]), open.map((id) => [`client_tool_${id}`, id]));
    return;
  }
  const ran = seen.filter(({ name }) => name === "tool-input-available").map(({ value }) => value);
  assert.deepEqual(ran, names.map((toolName, at) => ({ toolCallId: open[at], toolName, input: { precise: true } })));
  assert.deepEqual(outcome, adapter.version ? { type: "success", pendingToolCallIds: open } : undefined);
}

// Asks for a call that the page never answers, and opens the page again.
async function leaveOpen(client, text, tool) {
  client.send(text);
  await until("the call", () => tool.calls === 1);
  return reload(client);
}

export const toolCases = {
  "client tool: answered": async (adapter) => {
    const location = tool("get_location", () => LOCATION);
    const { client, shows } = await begin(adapter, { tools: [location] });
    const text = `${call("get_location")} ${randomUUID()}`;
    assert.deepEqual(await say(client, text), { error: undefined });
    assert.equal(location.calls, 1);
    assert.equal(posts(client).length, 2);
    waitsFor(adapter, client, 0, ["get_location"]);
    await shows(`user: ${text}`, calls("get_location"), gets(LOCATION), `assistant: done: ${JSON.stringify(LOCATION)}`);
    close(client);
  },

  "client tool: the page hears of a call once the run has ended that waits for it": async (adapter) => {
    let active = "not called";
    const location = tool("get_location", async () => {
      active = (await hydrate(threadId)).activeRun;
      return LOCATION;
    });
    const { client, threadId } = await begin(adapter, { tools: [location] });
    assert.deepEqual(await say(client, call("get_location")), { error: undefined });
    assert.equal(active, null);
    close(client);
  },

  "client tool: thrown": async (adapter) => {
    const location = tool("get_location", () => Promise.reject(new Error("denied by browser")));
    const { client, threadId } = await begin(adapter, { tools: [location] });
    const text = `${call("get_location")} ${randomUUID()}`;
    const { error } = await say(client, text);
    assert.equal(location.calls, 1);
    if (adapter.thrown === "waits") {
      assert.equal(error, "denied by browser");
      assert.equal(posts(client).length, 1);
      const mark = randomUUID();
      assert.deepEqual(await say(client, mark), { error: undefined });
      assert.match(results(mark, 0)[0], /denied by browser/);
    } else {
      assert.equal(error, undefined);
      assert.equal(posts(client).length, 2);
      assert.match(client.rows().at(-1), /^assistant: done: .*denied by browser/);
    }
    assert.match(ofParts((await hydrate(threadId)).messages)[2], /^gets .*denied by browser/);
    close(client);
  },

  "client tool: two at once": async (adapter) => {
    const location = tool("get_location", () => LOCATION);
    const time = tool("get_time", () => TIME);
    const { client, threadId } = await begin(adapter, { tools: [location, time] });
    const mark = randomUUID();
    assert.deepEqual(await say(client, `${call("get_location")}${call("get_time")} ${mark}`), { error: undefined });
    assert.deepEqual([location.calls, time.calls], [1, 1]);
    waitsFor(adapter, client, 0, ["get_location", "get_time"]);
    const done = `assistant: done: ${JSON.stringify(LOCATION)} | ${JSON.stringify(TIME)}`;
    assert.equal(client.rows().at(-1), done);
    assert.equal(asked(mark).length, 2);
    assert.equal(ofParts((await hydrate(threadId)).messages).at(-1), done);
    close(client);
  },

  "client tool: one of two answers late": async (adapter) => {
    const { promise, resolve } = deferred();
    const location = tool("get_location", () => LOCATION);
    const time = tool("get_time", () => promise);
    const { client } = await begin(adapter, { tools: [location, time] });
    const mark = randomUUID();
    const talking = say(client, `${call("get_location")}${call("get_time")} ${mark}`);
    await until("both calls", () => location.calls === 1 && time.calls === 1);
    if (adapter.answers === "each") {
      await until("the answer of the first", () => posts(client)[1]?.stream.ended);
      const [, rest] = events(posts(client)[0].stream).filter(({ type }) => type === "TOOL_CALL_START");
      const { type, outcome } = last(client, 1);
      assert.equal(type, "RUN_FINISHED");
      assert.deepEqual(outcome, adapter.version ? { type: "success", pendingToolCallIds: [rest.toolCallId] } : undefined);
    }
    assert.equal(asked(mark).length, 1);
    resolve(TIME);
    assert.deepEqual(await talking, { error: undefined });
    assert.equal(asked(mark).length, 2);
    assert.equal(client.rows().at(-1), `assistant: done: ${JSON.stringify(LOCATION)} | ${JSON.stringify(TIME)}`);
    close(client);
  },

  "client tool: one of two never answers": async (adapter) => {
    const location = tool("get_location", () => LOCATION);
    const time = tool("get_time", never);
    const { client, threadId } = await begin(adapter, { tools: [location, time] });
    client.send(`${call("get_location")}${call("get_time")}`);
    await until("both calls", () => location.calls === 1 && time.calls === 1);
    if (adapter.answers === "each") await until("the answer of the first", () => posts(client)[1]?.stream.ended);
    client.stop();
    const mark = randomUUID();
    assert.deepEqual(await say(client, `[[say go on]] ${mark}`), { error: undefined });
    assert.equal(client.rows().at(-1), "assistant: go on");
    const [one, two, ...more] = results(mark, 0);
    assert.deepEqual([JSON.parse(one), more], [LOCATION, []]);
    assert.match(two, /cut-off/);
    assert.equal(ofParts((await hydrate(threadId)).messages).at(-1), "assistant: go on");
    close(client);
  },

  "reload with a client tool open: its call is cut off, never run again": async (adapter) => {
    const location = tool("get_location", never);
    const { client, threadId } = await begin(adapter, { tools: [location] });
    const text = `${call("get_location")} ${randomUUID()}`;
    const next = await leaveOpen(client, text, location);
    await next.settled?.();
    assert.deepEqual(next.rows(), [`user: ${text}`, calls("get_location")]);
    const mark = randomUUID();
    assert.deepEqual(await say(next, `[[say go on]] ${mark}`), { error: undefined });
    assert.match(results(mark, 0)[0], /cut-off/);
    assert.equal(next.rows().at(-1), "assistant: go on");
    assert.equal(location.calls, 1);
    const lines = ofParts((await hydrate(threadId)).messages);
    assert.deepEqual(lines.toSpliced(2, 1), [`user: ${text}`, calls("get_location"), `user: [[say go on]] ${mark}`, "assistant: go on"]);
    assert.match(lines[2], /^gets .*cut-off/);
    close(next);
  },

  "reload with a client tool open: answered then, the run goes on": async (adapter) => {
    const location = tool("get_location", never);
    const { client, threadId } = await begin(adapter, { tools: [location] });
    const text = `${call("get_location")} ${randomUUID()}`;
    const next = await leaveOpen(client, text, location);
    await next.settled?.();
    assert.deepEqual(await soon("the rest", next.answer(LOCATION)), { error: undefined });
    assert.equal(location.calls, 1);
    const lines = [`user: ${text}`, calls("get_location"), gets(LOCATION), `assistant: done: ${JSON.stringify(LOCATION)}`];
    assert.deepEqual(next.rows(), lines);
    assert.deepEqual(ofParts((await hydrate(threadId)).messages), lines);
    close(next);
  },

  "other tools between two legs: the second has what the page still has, the next turn all": async (adapter) => {
    const time = tool("get_time", () => TIME);
    const changed = { ...time, description: "What the clock on the wall shows" };
    const zone = tool("get_zone", () => TIME);
    const location = tool("get_location", () => {
      client.setTools([changed, zone], { grounding: "the map is open" });
      return LOCATION;
    });
    const { client } = await begin(adapter, { tools: [location, time], props: { grounding: "the list is open" } });
    const mark = randomUUID();
    const turn = `${call("get_location")}[[then]]${call("get_time")} ${mark}`;
    assert.deepEqual(await say(client, turn), { error: undefined });
    assert.equal(client.rows().at(-1), `assistant: done: ${JSON.stringify(TIME)}`);
    const next = randomUUID();
    assert.deepEqual(await say(client, next), { error: undefined });
    const brought = [[mark, 0], [mark, 1], [mark, 2], [next, 0]].map(([mark, n]) => offered(mark, n));
    // A turn's decision holds the tools it may use.
    assert.deepEqual(brought.map((tools) => tools.map(({ name }) => name)), [
      ["get_location", "get_time"],
      ["get_time"],
      ["get_time"],
      ["get_time", "get_zone"],
    ]);
    assert.equal(brought[0][1].description, time.description);
    assert.equal(brought[1][0].description, changed.description);
    const said = (mark, n) => JSON.stringify(asked(mark)[n].messages.findLast(({ role }) => role === "user"));
    assert.match(said(mark, 0), /the list is open/);
    assert.match(said(mark, 1), /the map is open/);
    close(client);
  },
};
