// Runs the suite against every arrangement of servers: one process, two on one database taken in turn, and two that
// ask TanStack for its tools by interrupts.
// The binaries are those of the workspace's debug build; FRONTDESK_BIN_DIR names another folder.
// Arguments: names of arrangements; none: all.
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Services } from "./services.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const PATIENCE = 180_000;

const shared = process.env.FRONTDESK_TEST_POSTGRES ? "postgres" : "sqlite";
const arrangements = {
  one: { servers: 1, database: "sqlite" },
  two: { servers: 2, database: shared },
  interrupts: {
    servers: 2,
    database: shared,
    settings: { FRONTDESK__CHANNELS__WEB__CLIENT_TOOLS: "interrupt" },
    env: { CASES: "tools", CLIENT_TOOLS: "interrupt" },
    files: ["clients"],
  },
};

async function run(name, { servers, database, settings, env, files = ["schema", "clients", "cuts"] }) {
  const services = new Services();
  let code = 1;
  const leave = (signal) => {
    services.stop();
    process.exit(signal === "SIGINT" ? 130 : 143);
  };
  process.once("SIGINT", leave).once("SIGTERM", leave);
  try {
    console.log(`# ${name}: frontdesk serve × ${servers} on ${database}`);
    const found = await services.start(servers, database, settings);
    code = await suite(files, { ...found, ...env });
  } catch (error) {
    console.error(error.message);
  }
  if (code !== 0) console.error(services.log());
  services.stop();
  process.off("SIGINT", leave).off("SIGTERM", leave);
  return code;
}

function suite(names, env) {
  return new Promise((resolve) => {
    const files = names.map((file) => join("suite", `${file}.test.mjs`));
    const args = ["--test", "--test-force-exit", "--test-reporter=spec", ...files];
    const child = spawn(process.execPath, args, { cwd: here, stdio: "inherit", env: { ...process.env, ...env } });
    const late = setTimeout(() => {
      console.error(`the suite did not end within ${PATIENCE / 1000} s`);
      child.kill("SIGKILL");
      resolve(1);
    }, PATIENCE);
    child.once("exit", (code) => {
      clearTimeout(late);
      resolve(code ?? 1);
    });
  });
}

const wanted = process.argv.slice(2);
for (const name of wanted) {
  if (!(name in arrangements)) {
    console.error(`no arrangement is called ${name}; there are ${Object.keys(arrangements).join(", ")}`);
    process.exit(2);
  }
}
let code = 0;
for (const [name, arrangement] of Object.entries(arrangements)) {
  if (wanted.length === 0 || wanted.includes(name)) code ||= await run(name, arrangement);
}
process.exit(code);
