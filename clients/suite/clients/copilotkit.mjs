// `CopilotKitCore`: runs frontend tools by itself. Directly over an `HttpAgent` of its own AG-UI version, or by a
// runtime's address, where it also shows an old thread (`connect`) and stops by a call.
import { randomUUID } from "node:crypto";
import { CopilotKitCore } from "@copilotkit/core";
import { HttpAgent } from "ag-ui-client-0-0-59";
import { answered, ofRows, rowsOfParts } from "../transcript.mjs";
import { hydrate, PERSON, until } from "../world.mjs";

// Without a window it looks for no runtime.
globalThis.window ??= new EventTarget();

const adapter = (name, how, differs) => ({
  name: `@copilotkit/core 1.75.0, ${name}`,
  reconnects: false,
  joins: false,
  stops: "socket",
  // One follow-up run once every handler is done.
  answers: "all",
  // What a handler threw waits in the history for the next message.
  thrown: "waits",
  version: undefined,
  open: (options) => new Client(how, options),
  ...differs,
});

const runtime = (runtimeTransport) => ({
  core: (url) => ({ runtimeUrl: `${url}/v1/copilotkit`, runtimeTransport }),
  agent: async (core) => {
    const agents = await until("the runtime's agents", () => Object.values(core.agents).length > 0 && core.agents);
    return Object.values(agents)[0];
  },
  reopen: (page) => {
    page.connecting = page.core.connectAgent({ agent: page.agent });
  },
});

const direct = {
  core: (url, headers) => ({ agents__unsafe_dev_only: { frontdesk: new HttpAgent({ url: `${url}/v1/agui`, headers }) } }),
  agent: async (core) => core.getAgent("frontdesk"),
  reopen: async (page) => page.agent.setMessages(rowsOfParts((await hydrate(page.agent.threadId)).messages)),
};

const reaches = { stops: "call", joins: true };
export default [
  adapter("direct", direct),
  adapter("by runtime URL", runtime("rest"), reaches),
  adapter("by one endpoint", runtime("single"), reaches),
];

class Client {
  constructor(how, options) {
    const { url, threadId, tools = [], props = {}, headers = PERSON, event = () => {} } = options;
    this.how = how;
    this.options = options;
    this.error = undefined;
    this.core = new CopilotKitCore({ headers, properties: props, ...how.core(url, headers) });
    this.core.setTools(tools.map(declared));
    this.core.subscribe({ onError: ({ error }) => (this.error ??= error.message) });
    this.ready = how.agent(this.core).then((agent) => {
      agent.threadId = threadId;
      agent.subscribe({ onEvent: ({ event: seen }) => event(seen, this) });
      this.agent = agent;
    });
  }

  setTools(tools, props) {
    this.core.setTools(tools.map(declared));
    this.core.setProperties(props);
  }

  async send(text) {
    await this.ready;
    await this.settled();
    this.agent.addMessage({ id: randomUUID(), role: "user", content: text });
    return this.run();
  }

  async regenerate() {
    const last = this.agent.messages.findLastIndex((row) => row.role === "user");
    this.agent.setMessages(this.agent.messages.slice(0, last + 1));
    return this.run();
  }

  async run() {
    this.error = undefined;
    await this.core.runAgent({ agent: this.agent });
    return { error: this.error };
  }

  // What a tool of the page, open since before, has answered.
  answer(output) {
    this.agent.addMessage(answered(this.agent.messages, output));
    return this.run();
  }

  async settled() {
    await this.connecting;
  }

  stop() {
    this.core.stopAgent({ agent: this.agent });
  }

  rows() {
    return ofRows(this.agent.messages);
  }

  async reopen(changes) {
    const page = new Client(this.how, { ...this.options, ...changes });
    await page.ready;
    await this.how.reopen(page);
    return page;
  }
}

function declared({ name, description, input, run }) {
  return { name, description, parameters: input, handler: run };
}
