// One way to write a conversation down, whatever keeps it: lines
//   user: TEXT   thinks: TEXT   assistant: TEXT   calls NAME ARGUMENTS   gets RESULT

// A tool's result: JSON without its spaces, or as it is.
function result(content) {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

// Of UI messages with `parts`: what the server's hydrate answers, what TanStack keeps.
export function ofParts(messages) {
  return messages.flatMap((message) => {
    const name = message.role === "user" ? "user" : "assistant";
    return message.parts.flatMap((part) => {
      switch (part.type) {
        case "text":
          return part.content === "" ? [] : [`${name}: ${part.content}`];
        case "thinking":
          return [`thinks: ${part.content}`];
        case "tool-call":
          return [`calls ${part.name} ${result(part.arguments)}`];
        case "tool-result":
          return [`gets ${result(part.error ?? part.content)}`];
        default:
          return [`${part.type}?`];
      }
    });
  });
}

// Of AG-UI rows, a tool's result on its own row.
export function ofRows(messages) {
  return messages.flatMap((row) => {
    switch (row.role) {
      case "reasoning":
        return [`thinks: ${row.content}`];
      case "tool":
        return [`gets ${result(row.error ?? row.content)}`];
      case "assistant": {
        const calls = (row.toolCalls ?? []).map((call) => `calls ${call.function.name} ${result(call.function.arguments)}`);
        return [...(row.content ? [`assistant: ${row.content}`] : []), ...calls];
      }
      default:
        return [`${row.role}: ${row.content}`];
    }
  });
}

// UI messages as AG-UI rows: what an application does that seeds an AG-UI client on reload.
export function rowsOfParts(messages) {
  return messages.flatMap((message) => {
    const text = message.parts.filter((part) => part.type === "text").map((part) => part.content).join("");
    if (message.role === "user") return [{ id: message.id, role: "user", content: text }];
    const rows = [];
    for (const part of message.parts) {
      if (part.type === "thinking") rows.push({ id: `${message.id}-thinking`, role: "reasoning", content: part.content });
    }
    const calls = message.parts.filter((part) => part.type === "tool-call");
    const toolCalls = calls.map((part) => ({
      id: part.id,
      type: "function",
      function: { name: part.name, arguments: part.arguments },
    }));
    rows.push({ id: message.id, role: "assistant", content: text, ...(toolCalls.length > 0 && { toolCalls }) });
    for (const part of message.parts) {
      if (part.type !== "tool-result") continue;
      rows.push({ id: `${part.toolCallId}-result`, role: "tool", toolCallId: part.toolCallId, content: part.content });
    }
    return rows;
  });
}

// The row that answers the last call of AG-UI rows.
export function answered(rows, output) {
  const { id } = rows.flatMap((row) => row.toolCalls ?? []).at(-1);
  return { id: `${id}-answer`, role: "tool", toolCallId: id, content: JSON.stringify(output) };
}
