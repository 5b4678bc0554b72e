// A reader without a library: it posts, keeps the bytes of every whole event, and comes back with `Last-Event-ID`
// after whatever it lost, or, before the first event, with the same message again.
import { PERSON, soon } from "../world.mjs";

export async function read(url, { threadId, runId, text }) {
  const body = JSON.stringify({ threadId, runId, messages: [{ id: `${runId}-user`, role: "user", content: text }] });
  let kept = "";
  let last;
  for (let tries = 0; tries < 500; tries++) {
    const headers = { ...PERSON, "content-type": "application/json", ...(last && { "last-event-id": last }) };
    const frames = await soon("the stream", part(url, { method: "POST", headers, body }));
    for (const frame of frames) {
      kept += frame;
      last = /^id: (.*)$/m.exec(frame)?.[1] ?? last;
      if (/"type":"RUN_(FINISHED|ERROR)"/.test(frame)) return kept;
    }
  }
  throw new Error("no end after 500 connections");
}

// The whole frames up to where the stream ends or breaks.
async function part(url, init) {
  const answer = await fetch(`${url}/v1/agui`, init);
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of answer.body) text += decoder.decode(chunk, { stream: true });
  } catch (error) {
    if (error.message !== "terminated") throw error;
  }
  return text.split("\n\n").slice(0, -1).filter((frame) => frame.startsWith("id: ")).map((frame) => `${frame}\n\n`);
}
