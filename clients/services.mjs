// The processes of one arrangement: the scripted provider, the servers, their database. All end with `stop`.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const bin = process.env.FRONTDESK_BIN_DIR ?? join(dirname(fileURLToPath(import.meta.url)), "..", "target", "debug");

export class Services {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "frontdesk-clients-"));
    this.errors = join(this.folder, "stderr.log");
    this.children = [];
  }

  // What the suite needs to find them, as its environment.
  async start(servers, database, changes) {
    const record = join(this.folder, "record.jsonl");
    const provider = this.spawn("scripted-provider", ["--owned", "--record", record, "--control", this.folder], {}, "pipe");
    const settings = {
      PATH: process.env.PATH,
      HOME: this.folder,
      FRONTDESK__STORE__URL: this.database(database),
      FRONTDESK__MODEL__BASE_URL: `http://127.0.0.1:${await firstLine(provider)}/v1`,
      FRONTDESK__MODEL__NAME: "scripted",
      FRONTDESK__LIMITS__TURNS_PER_MINUTE: "10000",
      FRONTDESK__THREADS__LINGER_SECONDS: "5",
      ...changes,
    };
    const urls = [];
    for (let n = 0; n < servers; n++) {
      const server = this.spawn("frontdesk", ["serve", "--listen", "127.0.0.1:0"], settings);
      urls.push((await firstLine(server)).replace("frontdesk listening on ", ""));
    }
    const given = await fetch(`${urls[0]}/v1/auth/demo`, { method: "POST", signal: AbortSignal.timeout(10_000) });
    if (!given.ok) throw new Error(`POST /v1/auth/demo: ${given.status} ${await given.text()}`);
    const command = (...args) => execFileSync(join(bin, "frontdesk"), args, { env: settings, cwd: this.folder, timeout: 30_000 });
    command("user", "add", "eve", "--org", "local");
    return {
      FRONTDESK_URLS: urls.join(","),
      FRONTDESK_TOKEN: (await given.json()).token,
      FRONTDESK_FOREIGN_TOKEN: command("token", "--sub", "eve", "--org", "local").toString().trim(),
      PROVIDER_CONTROL: this.folder,
      PROVIDER_RECORD: record,
    };
  }

  spawn(name, args, env, stdin = "ignore") {
    const file = join(bin, name);
    if (!existsSync(file)) throw new Error(`${file} is missing: cargo build -p frontdesk -p testkit --bins`);
    const child = spawn(file, args, { env, cwd: this.folder, stdio: [stdin, "pipe", openSync(this.errors, "a")] });
    this.children.push(child);
    return child;
  }

  // A database of its own, so that no run finds what another left.
  database(kind) {
    if (kind === "sqlite") return `sqlite:${join(this.folder, "frontdesk.db")}`;
    const url = new URL(process.env.FRONTDESK_TEST_POSTGRES);
    this.made = `clients_${process.pid}_${Date.now()}`;
    psql(`CREATE DATABASE ${this.made}`);
    url.pathname = `/${this.made}`;
    return url.href;
  }

  log() {
    return existsSync(this.errors) ? readFileSync(this.errors, "utf8") : "";
  }

  stop() {
    for (const child of this.children.reverse()) child.kill("SIGKILL");
    if (this.made) psql(`DROP DATABASE IF EXISTS ${this.made} WITH (FORCE)`);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function psql(statement) {
  const args = ["--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--dbname", process.env.FRONTDESK_TEST_POSTGRES];
  execFileSync("psql", [...args, "--command", statement], { timeout: 30_000, stdio: "ignore" });
}

function firstLine(child) {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", resolve);
    child.once("exit", (code) => reject(new Error(`ended with ${code} before its first line`)));
    setTimeout(() => reject(new Error("no first line within 30 s")), 30_000).unref();
  });
}
