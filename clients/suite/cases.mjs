// What a person expects of every client: one function a case, told by an adapter (`clients/`) what that client can.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { begin, deferred, kinds, posts, runOf, say } from "./begin.mjs";
import { anotherTab, close, page, reload } from "./page.mjs";
import { ofParts } from "./transcript.mjs";
import { events, isPlace, parse } from "./wire.mjs";
import { asked, FOREIGNER, get, hydrate, openGate, PERSON, reached, soon, status, until } from "./world.mjs";

const TEXT = ["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED"];
const THOUGHT = ["START", "MESSAGE_START", "MESSAGE_CONTENT", "MESSAGE_END", "END"].map((kind) => `REASONING_${kind}`);

// A gate of its own name, and a promise for the first time its request waits there.
function gate() {
  const name = randomUUID();
  return { name, open: () => openGate(name), reached: () => reached(name) };
}

export const cases = {
  "text: two turns, the second sees the first": async (adapter) => {
    const { client, shows } = await begin(adapter);
    assert.deepEqual(await say(client, "[[say hello wörld 🐟]][[bytes]]"), { error: undefined });
    assert.deepEqual(kinds(client), TEXT);
    const mark = randomUUID();
    assert.deepEqual(await say(client, `[[say and again]] ${mark}`), { error: undefined });
    await shows("user: [[say hello wörld 🐟]][[bytes]]", "assistant: hello wörld 🐟", `user: [[say and again]] ${mark}`, "assistant: and again");
    const sent = asked(mark)[0].messages.filter(({ role }) => role !== "system");
    assert.deepEqual(sent.map(({ role }) => role), ["user", "assistant", "user"]);
    close(client);
  },

  "reasoning: shown before the text, kept with it": async (adapter) => {
    const { client, shows } = await begin(adapter);
    assert.deepEqual(await say(client, "[[think let me see]][[say it is so]]"), { error: undefined });
    assert.deepEqual(kinds(client), [TEXT[0], ...THOUGHT, ...TEXT.slice(1)]);
    await shows("user: [[think let me see]][[say it is so]]", "thinks: let me see", "assistant: it is so");
    close(client);
  },

  "error: the client says it, keeps what was said, and the next turn works": async (adapter) => {
    const { client, shows } = await begin(adapter);
    const { error } = await say(client, "[[words 3]][[cut after 2]]");
    const last = events(posts(client)[0].stream).at(-1);
    assert.equal(last.code, "model-unavailable");
    assert.equal(error, last.message);
    assert.deepEqual(await say(client, "[[say fine]]"), { error: undefined });
    await shows("user: [[words 3]][[cut after 2]]", "assistant: w1 w2", "user: [[say fine]]", "assistant: fine");
    close(client);
  },

  "error: a refusal before the run is an error too": async (adapter) => {
    const { client, threadId } = await begin(adapter);
    const { error } = await say(client, "x".repeat(33 * 1024));
    assert.match(error, /413/);
    assert.deepEqual((await hydrate(threadId)).messages, []);
    close(client);
  },

  "stop: what was said is kept, the run is cancelled, the next message works": async (adapter) => {
    const wait = gate();
    const event = (event, client) => event.delta === " w3" && client.stop();
    const { client, shows } = await begin(adapter, { event });
    const text = `[[words 5]][[gate ${wait.name} after 3]]`;
    assert.deepEqual(await say(client, text), { error: undefined });
    const run = runOf(client);
    assert.deepEqual(await say(client, "[[say instead]]"), { error: undefined });
    await status(run, "cancelled");
    // By a call of its own, or by closing the socket.
    const stops = client.wire.requests.filter(({ path, body }) => path.includes("/stop/") || body?.method === "agent/stop");
    assert.deepEqual(stops.map((entry) => entry.status), adapter.stops === "call" ? [200] : []);
    await shows(`user: ${text}`, "assistant: w1 w2 w3", "user: [[say instead]]", "assistant: instead");
    close(client);
  },

  "stop: with nobody left the run ends by itself": async (adapter) => {
    const wait = gate();
    const event = (event, client) => event.delta === " w2" && client.stop();
    const { client, shows } = await begin(adapter, { event });
    const text = `[[words 5]][[gate ${wait.name} after 2]]`;
    assert.deepEqual(await say(client, text), { error: undefined });
    await status(runOf(client), "cancelled");
    await shows(`user: ${text}`, "assistant: w1 w2");
    close(client);
  },

  "dropped socket: nothing is lost": async (adapter) => {
    const wait = gate();
    let cuts = 0;
    const cut = (event) => event.delta === " w3" && ++cuts === 1;
    const { client, threadId, shows } = await begin(adapter, { faults: { cut } });
    const text = `[[words 6]][[gate ${wait.name} after 4]]`;
    const talking = say(client, text);
    await until("the cut", () => cuts > 0);
    const run = runOf(client, 0);
    wait.open();
    const { error } = await talking;
    await status(run, "completed");
    if (adapter.reconnects) {
      assert.equal(error, undefined);
      await shows(`user: ${text}`, "assistant: w1 w2 w3 w4 w5 w6");
      assert.match(client.wire.requests.at(-1).headers["last-event-id"], /./);
    } else {
      assert.ok(error);
      const next = await reload(client);
      await next.settled?.();
      const lines = [`user: ${text}`, "assistant: w1 w2 w3 w4 w5 w6"];
      assert.deepEqual(next.rows(), lines);
      assert.deepEqual(ofParts((await hydrate(threadId)).messages), lines);
      close(next);
    }
    close(client);
  },

  "reload in mid-stream: the page shows the run to its end": async (adapter) => {
    const wait = gate();
    const { client, threadId } = await begin(adapter);
    const text = `[[words 4]][[gate ${wait.name} after 2]]`;
    const talking = say(client, text);
    await wait.reached();
    await until("the first words", () => client.rows().at(-1) === "assistant: w1 w2");
    const run = runOf(client);
    let next = await reload(client);
    await talking;
    if (adapter.joins) {
      await until("the words so far", () => next.rows().at(-1) === "assistant: w1 w2");
      wait.open();
      await soon("the rest", next.settled());
    } else {
      const { activeRun, messages } = await hydrate(threadId);
      assert.deepEqual(activeRun, { runId: run });
      assert.deepEqual(ofParts(messages), [`user: ${text}`]);
      assert.deepEqual(next.rows(), [`user: ${text}`]);
      wait.open();
      await status(run, "completed");
      next = await reload(next);
    }
    assert.deepEqual(next.rows(), [`user: ${text}`, "assistant: w1 w2 w3 w4"]);
    assert.deepEqual(await say(next, "[[say more]]"), { error: undefined });
    const lines = [`user: ${text}`, "assistant: w1 w2 w3 w4", "user: [[say more]]", "assistant: more"];
    assert.deepEqual(next.rows(), lines);
    assert.deepEqual(ofParts((await hydrate(threadId)).messages), lines);
    close(next);
  },

  "server tool: a call, its result, the answer": async (adapter) => {
    const { client, threadId } = await begin(adapter);
    assert.deepEqual(await say(client, "[[tool whoami {}]]"), { error: undefined });
    const [user, call, gets, answer, ...rest] = client.rows();
    assert.deepEqual([user, call, rest], ["user: [[tool whoami {}]]", "calls whoami {}", []]);
    assert.match(gets, /^gets .*local/);
    assert.match(answer, /^assistant: done: .*local/);
    assert.deepEqual(ofParts((await hydrate(threadId)).messages), client.rows());
    assert.equal(posts(client).length, 1);
    close(client);
  },

  "two tabs: what both say is answered in order, and both see it when reopened": async (adapter) => {
    const wait = gate();
    const mark = randomUUID();
    const { client, threadId } = await begin(adapter);
    assert.deepEqual(await say(client, "[[say first]]"), { error: undefined });
    const other = await anotherTab(client);
    await other.settled?.();
    const text = `[[words 3]][[gate ${wait.name} after 1]]`;
    const one = say(client, text);
    await wait.reached();
    const two = say(other, `[[say after that]] ${mark}`);
    await until("the second tab's run", () => posts(other).length > 0 && posts(other)[0].stream?.frames.length > 0);
    assert.deepEqual(asked(mark), []);
    wait.open();
    assert.deepEqual(await one, { error: undefined });
    assert.deepEqual(await two, { error: undefined });
    const lines = [
      "user: [[say first]]",
      "assistant: first",
      `user: ${text}`,
      "assistant: w1 w2 w3",
      `user: [[say after that]] ${mark}`,
      "assistant: after that",
    ];
    for (const tab of [client, other]) {
      const next = await reload(tab);
      await next.settled?.();
      assert.deepEqual(next.rows(), lines);
      close(next);
    }
    assert.deepEqual(ofParts((await hydrate(threadId)).messages), lines);
  },

  "same run twice: one run, one answer, the same bytes": async (adapter) => {
    const mark = randomUUID();
    const { client, shows } = await begin(adapter, { faults: { twice: true } });
    assert.deepEqual(await say(client, `[[say only once]] ${mark}`), { error: undefined });
    await shows(`user: [[say only once]] ${mark}`, "assistant: only once");
    assert.equal(asked(mark).length, 1);
    const [first, second] = posts(client).map(({ stream }) => stream);
    await until("the first stream's end", () => first.ended);
    const [one, two] = [first, second].map(({ frames }) => frames.filter((frame) => !isPlace(parse(frame) ?? {})));
    assert.deepEqual(two, one);
    close(client);
  },

  "run again: the same message, another answer, nothing twice": async (adapter) => {
    const mark = randomUUID();
    const { client, shows } = await begin(adapter);
    await say(client, "[[say before]]");
    assert.deepEqual(await say(client, mark), { error: undefined });
    assert.deepEqual(await soon("another answer", client.regenerate()), { error: undefined });
    const bare = ({ messages }) => JSON.stringify(messages).replace(/<context>.*?<\/context>/gs, "");
    const [one, two, ...more] = asked(mark);
    assert.deepEqual([bare(two), more], [bare(one), []]);
    const answer = client.rows().at(-1);
    await shows("user: [[say before]]", "assistant: before", `user: ${mark}`, answer);
    close(client);
  },

  "foreign thread id: another person's thread is a thread of one's own": async (adapter) => {
    const { client, threadId } = await begin(adapter);
    await say(client, "[[say secret]]");
    const run = runOf(client);
    const other = await page(adapter, { threadId, headers: FOREIGNER });
    assert.deepEqual(await say(other, "[[say mine]]"), { error: undefined });
    assert.deepEqual(other.rows(), ["user: [[say mine]]", "assistant: mine"]);
    assert.deepEqual(ofParts((await hydrate(threadId, FOREIGNER)).messages), other.rows());
    assert.deepEqual(ofParts((await hydrate(threadId, PERSON)).messages), client.rows());
    assert.equal((await get(`/v1/agui?runId=${encodeURIComponent(run)}&offset=-1`, { headers: FOREIGNER })).status, 404);
    close(client);
    close(other);
  },

  "slow reader: it holds up nobody, and gets everything": async (adapter) => {
    const { promise: hold, resolve: go } = deferred();
    const { client, threadId } = await begin(adapter, { faults: { hold } });
    // More than sockets and the run's log hold.
    const talking = say(client, "[[words 16 wide 60000]]");
    await until("the run's first event", () => posts(client)[0]?.stream?.frames.length > 0);
    await status(runOf(client), "completed");
    const other = await page(adapter);
    assert.deepEqual(await say(other, "[[say meanwhile]]"), { error: undefined });
    go();
    assert.deepEqual(await talking, { error: undefined });
    const words = Array.from({ length: 16 }, (_, n) => `${n > 0 ? " " : ""}w${n + 1}`.padEnd(60_000, ".")).join("");
    // Not compared as wholes: a megabyte that differs would all be shown.
    assert.ok(client.rows().at(-1) === `assistant: ${words}`);
    assert.ok(ofParts((await hydrate(threadId)).messages).at(-1) === `assistant: ${words}`);
    close(client);
    close(other);
  },
};
