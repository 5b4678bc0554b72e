// `HttpAgent`: it knows one run at a time. Tools, reload and follow-up runs are the application's, here as one would
// write them: every answer of a tool is posted as soon as it is there.
import { randomUUID } from "node:crypto";
import { HttpAgent as Agent100 } from "@ag-ui/client";
import { HttpAgent as Agent0058 } from "ag-ui-client-0-0-58";
import { HttpAgent as Agent0059 } from "ag-ui-client-0-0-59";
import { z } from "zod";
import { answered, ofRows, rowsOfParts } from "../transcript.mjs";
import { hydrate, PERSON } from "../world.mjs";

const adapter = (name, HttpAgent, isOne) => ({
  name,
  // A lost socket is an error; the thread shows the run whole when it is opened again.
  reconnects: false,
  joins: false,
  stops: "socket",
  // Of two calls the first answer goes out at once.
  answers: "each",
  // A tool that threw is answered like any other.
  thrown: "continues",
  version: isOne ? "1.0" : undefined,
  open: (options) => new Client(HttpAgent, options),
});

export default [
  adapter("@ag-ui/client 1.0.0", Agent100, true),
  adapter("@ag-ui/client 0.0.59", Agent0059, false),
  adapter("@ag-ui/client 0.0.58", Agent0058, false),
];

class Client {
  constructor(HttpAgent, { url, threadId, tools = [], props, headers = PERSON, event = () => {} }) {
    this.again = (changes) => new Client(HttpAgent, { url, threadId, tools, props, headers, ...changes });
    this.agent = new HttpAgent({ url: `${url}/v1/agui`, threadId, headers });
    this.tools = tools;
    this.props = props;
    this.event = event;
  }

  setTools(tools, props) {
    this.tools = tools;
    this.props = props;
  }

  async send(text) {
    this.agent.addMessage({ id: randomUUID(), role: "user", content: text });
    return this.run();
  }

  // The last answer anew.
  regenerate() {
    const last = this.agent.messages.findLastIndex((row) => row.role === "user");
    this.agent.setMessages(this.agent.messages.slice(0, last + 1));
    return this.run();
  }

  async run() {
    let error;
    const subscriber = {
      onEvent: ({ event }) => this.event(event, this),
      onRunErrorEvent: ({ event }) => (error ??= event.code === "abort" ? undefined : event.message),
      onRunFailed: (failed) => (error ??= failed.error.message),
    };
    const input = { tools: this.tools.map(declared), ...(this.props && { forwardedProps: this.props }) };
    await this.agent.runAgent(input, subscriber).catch((failed) => (error ??= failed.message));
    return error ? { error } : this.callTools();
  }

  // Calls the tools of the last leg, side by side; posts what they answer, one by one.
  async callTools() {
    const { messages } = this.agent;
    const last = messages.findLastIndex((row) => row.role === "user");
    const rows = messages.slice(last + 1);
    const done = new Set(rows.filter((row) => row.role === "tool").map((row) => row.toolCallId));
    const calls = rows.flatMap((row) => row.toolCalls ?? []).filter((call) => !done.has(call.id) && !this.called?.has(call.id));
    this.called = new Set([...(this.called ?? []), ...calls.map((call) => call.id)]);
    let turn = { error: undefined };
    const mine = calls.filter((call) => this.tools.some((tool) => tool.name === call.function.name));
    let posting = Promise.resolve();
    await Promise.all(
      mine.map(async (call) => {
        const row = await this.result(call);
        posting = posting.then(async () => {
          this.agent.addMessage(row);
          turn = await this.run();
        });
        await posting;
      }),
    );
    return turn;
  }

  async result(call) {
    const row = { id: randomUUID(), role: "tool", toolCallId: call.id };
    const tool = this.tools.find((tool) => tool.name === call.function.name);
    try {
      return { ...row, content: JSON.stringify(await tool.run(JSON.parse(call.function.arguments))) };
    } catch (error) {
      return { ...row, content: "", error: error.message };
    }
  }

  // What a tool of the page, open since before, has answered.
  answer(output) {
    this.agent.addMessage(answered(this.agent.messages, output));
    return this.run();
  }

  stop() {
    this.agent.abortRun();
  }

  rows() {
    return ofRows(this.agent.messages);
  }

  // The page is gone, its socket too.
  close() {
    this.agent.abortRun();
  }

  // The page opened again: what the server shows of the thread.
  async reopen(changes) {
    const page = this.again(changes);
    page.agent.setMessages(rowsOfParts((await hydrate(page.agent.threadId)).messages));
    return page;
  }
}

function declared({ name, description, input }) {
  const { $schema, ...parameters } = z.toJSONSchema(input);
  return { name, description, parameters };
}
