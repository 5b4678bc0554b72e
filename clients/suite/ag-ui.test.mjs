// @ag-ui/client 1.0.0 on the real wire: text, stop, error, run again, reload.
import assert from "node:assert/strict";
import { test } from "node:test";
import { agent, asked, get, hydrate, open, reached, rows, run, say, status } from "./world.mjs";

const once = (kinds) => kinds.filter((kind, at) => kind !== "CUSTOM" && kind !== kinds[at - 1]);
const TEXT = ["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED"];

test("text: two turns, the second sees the first", async () => {
  const a = agent();
  const first = await say(a, "[[say hello wörld 🐟]] [[bytes]]");
  assert.deepEqual(once(first.kinds), TEXT);
  assert.deepEqual(first.errors, []);
  const second = await say(a, "[[say and again]] text-two");
  assert.deepEqual(once(second.kinds), TEXT);
  const expected = [
    "user: [[say hello wörld 🐟]] [[bytes]]",
    "assistant: hello wörld 🐟",
    "user: [[say and again]] text-two",
    "assistant: and again",
  ];
  assert.deepEqual(rows(a), expected);
  assert.deepEqual((await hydrate(a.threadId)).lines, expected);
  const sent = asked("text-two")[0].messages.filter((row) => row.role !== "system");
  assert.deepEqual(sent.map((row) => row.role), ["user", "assistant", "user"]);
});

test("tools: a call, its result, the answer", async () => {
  const a = agent();
  const seen = await say(a, "[[tool whoami {}]]");
  assert.deepEqual(seen.errors, []);
  assert.equal(seen.kinds.at(-1), "RUN_FINISHED");
  assert.deepEqual(a.messages.map((row) => row.role), ["user", "assistant", "tool", "assistant"]);
  assert.match(a.messages.at(-1).content, /^done: .*local/);
});

test("stop: the socket closes, what was said is kept, the next message takes its place", async () => {
  const a = agent();
  const stopped = await say(a, "[[words 5]][[gate stop after 3]]", {
    event: (event) => event.delta === " w3" && a.abortRun(),
  });
  assert.deepEqual(stopped.errors, ["abort"]);
  const next = await say(a, "[[say instead]]");
  assert.deepEqual(next.errors, []);
  await status(stopped.runId, "cancelled");
  assert.deepEqual((await hydrate(a.threadId)).lines, [
    "user: [[words 5]][[gate stop after 3]]",
    "assistant: w1 w2 w3",
    "user: [[say instead]]",
    "assistant: instead",
  ]);
});

test("stop: with nobody left, the run ends after its time", async () => {
  const a = agent();
  const stopped = await say(a, "[[words 5]][[gate alone after 2]]", {
    event: (event) => event.delta === " w2" && a.abortRun(),
  });
  await status(stopped.runId, "cancelled");
  assert.equal((await hydrate(a.threadId)).lines[1], "assistant: w1 w2");
});

test("error: RUN_ERROR surfaces, the next turn works", async () => {
  const a = agent();
  const failed = await say(a, "[[words 3]][[cut after 2]]");
  assert.equal(failed.kinds.at(-1), "RUN_ERROR");
  assert.deepEqual(failed.errors, ["model-unavailable"]);
  const next = await say(a, "[[say fine]]");
  assert.deepEqual(next.errors, []);
  assert.equal(a.messages.at(-1).content, "fine");
});

test("error: a refusal before the run rejects with the problem document", async () => {
  const a = agent();
  a.addMessage({ id: "m", role: "user", content: "x".repeat(33 * 1024) });
  await assert.rejects(a.runAgent({ tools: [] }), /413/);
});

test("run again: the same message, another answer, nothing twice", async () => {
  const a = agent();
  await say(a, "[[say before]]");
  await say(a, "again-and-again");
  const first = a.messages.at(-1).id;
  a.setMessages(a.messages.slice(0, -1));
  const seen = await run(a);
  assert.deepEqual(seen.errors, []);
  assert.notEqual(a.messages.at(-1).id, first);
  const [one, two] = asked("again-and-again");
  assert.deepEqual(two.messages, one.messages);
  const { lines } = await hydrate(a.threadId);
  assert.equal(lines.length, 4);
  assert.deepEqual(lines.slice(0, 3), ["user: [[say before]]", "assistant: before", "user: again-and-again"]);
});

test("reload: reopened in mid-run, the thread has its message, the run is joined from the start", async () => {
  const a = agent();
  let runId;
  const talking = say(a, "[[words 4]][[gate reload after 2]]", {
    event: (event) => (runId ??= event.runId),
  });
  await reached("reload");
  const during = await hydrate(a.threadId);
  assert.deepEqual(during.lines, ["user: [[words 4]][[gate reload after 2]]"]);
  assert.deepEqual(during.activeRun, { runId });
  const joining = await get(`/v1/agui?runId=${runId}&offset=-1`, "*/*");
  open("reload");
  const events = (await joining.text())
    .split("\n\n")
    .flatMap((frame) => frame.split("\n").filter((line) => line.startsWith("data: ")))
    .map((line) => JSON.parse(line.slice(6)));
  assert.deepEqual(once(events.map((event) => event.type)), TEXT);
  assert.equal(events.map((event) => event.delta ?? "").join(""), "w1 w2 w3 w4");
  assert.deepEqual((await talking).errors, []);
  const after = await hydrate(a.threadId);
  assert.equal(after.activeRun, null);
  assert.equal(after.lines[1], "assistant: w1 w2 w3 w4");
});
