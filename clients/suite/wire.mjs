// What lies between one client and the servers: a proxy that takes the servers in turn, keeps every event stream
// that passed, and breaks it where a case says.
import http from "node:http";

const SERVERS = process.env.FRONTDESK_URLS.split(",");

// Every event stream of this process: its request, the version that spoke, its whole frames, what came after them.
export const streams = [];

// `faults`:
//   cut(event, request)  true: after this event both sockets are closed
//   half                 with `cut`: half of the next event goes out before
//   hold                 a promise: after a stream's first event nothing more is read until it is settled
//   twice                every POST is sent twice; the client gets the second answer
export async function wire(faults = {}) {
  const self = { faults, requests: [], url: undefined, close };
  let turn = 0;
  const open = new Set();
  const server = http.createServer((request, response) => {
    relay(request, response).catch((error) => response.destroy(error));
  });

  async function relay(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    if (self.faults.twice && request.method === "POST") {
      const first = await upstream(request, body);
      pass(first, undefined);
    }
    pass(await upstream(request, body), response);
  }

  // Sends the request to the server whose turn it is; the answer's head has come.
  async function upstream(request, body) {
    const base = new URL(SERVERS[turn++ % SERVERS.length]);
    const headers = { ...request.headers, host: base.host, connection: "close" };
    const entry = { method: request.method, path: request.url, headers, body: json(body), status: undefined, stream: undefined };
    self.requests.push(entry);
    const sent = http.request({ host: base.hostname, port: base.port, method: request.method, path: request.url, headers });
    open.add(sent);
    sent.once("close", () => open.delete(sent));
    const answer = new Promise((resolve, reject) => sent.once("response", resolve).once("error", reject));
    sent.end(body);
    const head = await answer;
    entry.status = head.statusCode;
    // A socket that breaks is what the client hears of, by its own.
    sent.on("error", () => {});
    head.on("error", () => {});
    return { entry, sent, head };
  }

  function pass({ entry, sent, head }, response) {
    // Of this connection, not of the next one.
    const { connection, "keep-alive": kept, "transfer-encoding": coding, ...headers } = head.headers;
    response?.writeHead(head.statusCode, headers);
    response?.once("close", () => sent.destroy());
    if (response?.destroyed) sent.destroy();
    if (!head.headers["content-type"]?.startsWith("text/event-stream")) {
      if (response) head.pipe(response);
      else head.resume();
      return;
    }
    entry.stream = { entry, version: entry.body?.protocolVersion ?? entry.body?.body?.protocolVersion, frames: [], rest: "", ended: false };
    streams.push(entry.stream);
    const { cut, half, hold } = self.faults;
    let rest = Buffer.alloc(0);
    let count = 0;
    let falls = false;
    // Nothing of the server's comes through any more, and what `last` is has gone out before.
    const fall = (last) => {
      for (const name of ["data", "end", "aborted"]) head.removeAllListeners(name);
      sent.destroy();
      response?.write(last, () => response.destroy());
    };
    head.on("data", (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      for (let end; (end = rest.indexOf("\n\n")) >= 0; rest = rest.subarray(end + 2)) {
        const bytes = rest.subarray(0, end + 2);
        if (falls) return fall(bytes.subarray(0, bytes.length / 2));
        const frame = bytes.toString();
        entry.stream.frames.push(frame);
        const event = parse(frame);
        if (event) count += 1;
        if (event && cut?.(event, entry)) {
          if (!half) return fall(bytes);
          falls = true;
        }
        response?.write(bytes);
        if (event && hold && count === 1) {
          head.pause();
          hold.finally(() => head.resume());
        }
      }
    });
    head.once("end", () => {
      entry.stream.rest = rest.toString();
      entry.stream.ended = true;
      response?.end();
    });
    // A stream that the server breaks off breaks off here.
    head.once("aborted", () => response?.destroy());
  }

  function close() {
    for (const sent of open) sent.destroy();
    server.closeAllConnections();
    server.close();
  }

  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  self.url = `http://127.0.0.1:${server.address().port}`;
  return self;
}

function json(body) {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

// Whether a request asks CopilotKit's runtime for what a thread holds.
export function isConnect({ path, body }) {
  return path.endsWith("/connect") || body?.method === "agent/connect";
}

// The event of a frame; a comment has none.
export function parse(frame) {
  const line = frame.split("\n").find((line) => line.startsWith("data: "));
  return line && JSON.parse(line.slice(6));
}

// All events of a stream kept by a wire.
export function events(stream) {
  return stream.frames.map(parse).filter(Boolean);
}

// Those that every reader of the run gets: its place in the queue is told only to who waits for it.
export function lasting(stream) {
  return events(stream).filter((event) => !isPlace(event));
}

export function isPlace({ type, name }) {
  return type === "CUSTOM" && name === "frontdesk.queued";
}
