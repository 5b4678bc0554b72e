// What holds of every event stream, whoever asked for it: the frames of the wire, AG-UI 1.0's schema, and what only
// clients of 1.0 may be told.
import { EventSchema } from "@ag-ui/core/schemas";
import Ajv from "ajv/dist/2020.js";
import { z } from "zod/v4";
import { isConnect, parse } from "./wire.mjs";

// The package's own schemas as JSON Schema, closed: we send no keys of our own outside of `metadata` and values.
const schema = z.toJSONSchema(EventSchema, {
  io: "input",
  unrepresentable: "any",
  override: ({ jsonSchema, path }) => {
    if (jsonSchema.properties) jsonSchema.additionalProperties = false;
    if (path.at(-1) === "metadata") jsonSchema.type = "object";
  },
});
const matches = new Ajv({ discriminator: true, strict: false, allErrors: true }).compile(schema);

// What is wrong with the streams, one line each, and how many events were looked at.
export function complaints(streams) {
  const found = [];
  let count = 0;
  for (const stream of streams) {
    const { entry } = stream;
    const say = (what, frame) => found.push(`${entry.method} ${entry.path}: ${what}: ${frame.slice(0, 400)}`);
    // What a thread holds is told anew each time: there is no place in it to come back to.
    const form = isConnect(entry) ? /^(id: [\x21-\x7e]+\n)?data: [^\r\n]+\n\n$/ : /^id: [\x21-\x7e]+\ndata: [^\r\n]+\n\n$/;
    for (const frame of stream.frames) {
      if (frame.startsWith(":")) {
        if (!/^: [a-z]+\n\n$/.test(frame)) say("not a comment", frame);
        continue;
      }
      count += 1;
      if (!form.test(frame)) say("not an id and one line of data", frame);
      for (const complaint of event(parse(frame), stream)) say(complaint, frame);
    }
    if (stream.rest !== "") say("bytes after the last event", stream.rest);
    if (stream.ended) for (const complaint of order(stream.frames.map(parse).filter(Boolean))) say(complaint, "");
  }
  return { found, count };
}

function event(value, { version }) {
  const found = [];
  if (!matches(value)) {
    const own = EventSchema.safeParse(value);
    const why = own.success ? matches.errors.map((error) => `${error.instancePath} ${error.message}`) : [own.error.message];
    found.push(`not AG-UI 1.0 (${[...new Set(why)].slice(0, 6).join("; ")})`);
  }
  if (!EventSchema.safeParse(value).success) found.push("refused by AG-UI 1.0's own schema");
  if (hasNull(value)) found.push("null");
  const isOne = version?.startsWith("1.") ?? false;
  if (value.outcome && !isOne && value.outcome.type !== "interrupt") found.push("an outcome older clients refuse");
  return found;
}

function order(events) {
  if (events.length === 0) return [];
  const terminals = events.filter(({ type }) => type === "RUN_FINISHED" || type === "RUN_ERROR");
  if (terminals.length !== 1 || terminals[0] !== events.at(-1)) return ["not one terminal event, at the end"];
  return [];
}

function hasNull(value) {
  if (value === null) return true;
  return typeof value === "object" && Object.values(value).some(hasNull);
}
