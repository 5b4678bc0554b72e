// Starts a scripted provider and a real server for the suite, runs it with node's test runner, stops both.
// The binaries are those of the workspace's debug build; FRONTDESK_BIN_DIR names another folder.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const bin = process.env.FRONTDESK_BIN_DIR ?? join(here, "..", "target", "debug");
const folder = mkdtempSync(join(tmpdir(), "frontdesk-clients-"));
const log = join(folder, "stderr.log");
const children = [];

function start(name, args, env, stdin = "ignore") {
  const file = join(bin, name);
  if (!existsSync(file)) throw new Error(`${file} is missing: cargo build -p frontdesk -p testkit --bins`);
  const child = spawn(file, args, { env, cwd: folder, stdio: [stdin, "pipe", openSync(log, "a")] });
  children.push(child);
  return child;
}

function firstLine(child) {
  const line = new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", resolve);
    child.once("exit", (code) => reject(new Error(`ended with ${code} before its first line`)));
    setTimeout(() => reject(new Error("no first line within 30 s")), 30_000).unref();
  });
  return line;
}

async function main() {
  const record = join(folder, "record.jsonl");
  const provider = start("scripted-provider", ["--owned", "--record", record, "--control", folder], {}, "pipe");
  const port = await firstLine(provider);
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    FRONTDESK__STORE__URL: `sqlite:${join(folder, "frontdesk.db")}`,
    FRONTDESK__MODEL__BASE_URL: `http://127.0.0.1:${port}/v1`,
    FRONTDESK__MODEL__NAME: "scripted",
    FRONTDESK__LIMITS__TURNS_PER_MINUTE: "1000",
    FRONTDESK__THREADS__LINGER_SECONDS: "2",
  };
  const server = start("frontdesk", ["serve", "--listen", "127.0.0.1:0"], env);
  const url = (await firstLine(server)).replace("frontdesk listening on ", "");
  const given = await fetch(`${url}/v1/auth/demo`, { method: "POST", signal: AbortSignal.timeout(10_000) });
  if (!given.ok) throw new Error(`POST /v1/auth/demo: ${given.status} ${await given.text()}`);
  const { token } = await given.json();

  const cases = readdirSync(join(here, "suite")).filter((file) => file.endsWith(".test.mjs"));
  const suite = spawn(process.execPath, ["--test", ...cases.map((file) => join("suite", file))], {
    cwd: here,
    stdio: "inherit",
    env: { ...process.env, FRONTDESK_URL: url, FRONTDESK_TOKEN: token, PROVIDER_CONTROL: folder, PROVIDER_RECORD: record },
  });
  children.push(suite);
  return new Promise((resolve) => {
    const late = setTimeout(() => {
      console.error("the suite did not end within 120 s");
      resolve(1);
    }, 120_000);
    suite.once("exit", (code) => {
      clearTimeout(late);
      resolve(code ?? 1);
    });
  });
}

function stop() {
  for (const child of children.reverse()) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}

process.once("SIGINT", () => (stop(), process.exit(130)));
process.once("SIGTERM", () => (stop(), process.exit(143)));
let code = 1;
try {
  code = await main();
} catch (error) {
  console.error(error.message);
}
if (code !== 0 && existsSync(log)) console.error(readFileSync(log, "utf8"));
stop();
process.exit(code);
