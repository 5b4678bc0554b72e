// `ChatClient`: hydrates, joins, comes back after a lost socket and runs client tools by itself.
import { ChatClient, fetchServerSentEvents } from "@tanstack/ai-client";
import { toolDefinition } from "@tanstack/ai/client";
import { ofParts } from "../transcript.mjs";
import { PERSON, until } from "../world.mjs";

// Whether the servers ask this client for its tools by interrupts.
const INTERRUPTS = process.env.CLIENT_TOOLS === "interrupt";

export default [
  {
    name: "@tanstack/ai-client 0.33.2",
    reconnects: true,
    joins: true,
    stops: "socket",
    // Once all calls are answered.
    answers: "all",
    thrown: "continues",
    version: undefined,
    interrupts: INTERRUPTS,
    open: (options) => new Client(options),
  },
];

class Client {
  constructor(options) {
    const { url, threadId, tools = [], props, headers = PERSON, event = () => {}, reconnect } = options;
    this.options = options;
    this.error = undefined;
    let hydrated = false;
    // The client has no sign of its own that it has asked.
    const fetchClient = async (input, init) => {
      const answer = await fetch(input, init);
      if (String(input).includes("threadId=")) hydrated = true;
      return answer;
    };
    this.isHydrated = () => hydrated;
    this.chat = new ChatClient({
      threadId,
      connection: fetchServerSentEvents(`${url}/v1/agui`, { headers, fetchClient, ...(reconnect && { reconnect }) }),
      persistence: true,
      tools: tools.map(declared),
      forwardedProps: props,
      onChunk: (chunk) => event(chunk, this),
      onError: (error) => (this.error = error.message),
    });
    this.chat.attach();
  }

  setTools(tools, props) {
    this.chat.updateOptions({ tools: tools.map(declared), forwardedProps: props });
  }

  async send(text) {
    await until("the page hydrated", this.isHydrated);
    // It takes no message while a call is open, and shows no call of a tool of its own among its interrupts: a page
    // that goes on without the answer drops what was asked.
    if (INTERRUPTS && !this.chat.getIsLoading()) this.chat.stop();
    this.error = undefined;
    await this.chat.sendMessage(text);
    await this.settled();
    return { error: this.error };
  }

  // What a tool of the page, open since before, has answered.
  async answer(output) {
    const parts = this.chat.getMessages().flatMap((message) => message.parts);
    const { id, name } = parts.findLast((part) => part.type === "tool-call" && part.output === undefined);
    this.error = undefined;
    await this.chat.addToolResult({ toolCallId: id, tool: name, output });
    await this.settled();
    return { error: this.error };
  }

  async regenerate() {
    this.error = undefined;
    await this.chat.reload();
    return { error: this.error };
  }

  settled() {
    return until("the client is at rest", () => !this.chat.getIsLoading());
  }

  stop() {
    this.chat.stop();
  }

  rows() {
    return ofParts(this.chat.getMessages());
  }

  close() {
    this.chat.dispose();
  }

  async reopen(changes) {
    const page = new Client({ ...this.options, ...changes });
    await until("the page hydrated", page.isHydrated);
    return page;
  }
}

function declared({ name, description, input, run }) {
  return toolDefinition({ name, description, inputSchema: input }).client(run);
}
