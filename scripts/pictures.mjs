// Makes the pictures of the documents from a real run: npm run pictures
//
//   docs/images/terminal.svg       `holdfast chat` at a terminal of 80 columns, waiting for an approval
//   docs/images/temporal-ui.png    the timeline of the same run in Temporal's UI, after the approval
//
// The model is scripted; the server, the worker and its death, the chat and the UI are real. It needs Linux, util-linux and
// Chromium.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import xterm from "@xterm/headless";
import { chromium } from "playwright-core";
import { eventually } from "../dist/testing/eventually.js";
import { startModelServer } from "../dist/testing/model-server/server.js";
import { AGENT_FILE, GATE, PROMPT, SCRIPT } from "./pictures/session.mjs";
import { drawTerminal } from "./pictures/terminal-svg.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const images = join(root, "docs", "images");
const holdfast = join(root, "dist", "apps", "cli", "main.js");
const COLUMNS = 80;
const ROWS = 50;
const WAIT_MS = 60_000;
const BEGINNING = "$ holdfast chat --agent agent.toml";

const temporary = mkdtempSync(join(tmpdir(), "holdfast-pictures-"));
const home = join(temporary, "home");
const project = join(temporary, "shop");
const env = {
  PATH: process.env.PATH,
  HOME: temporary,
  SHELL: "/bin/sh",
  TERM: "xterm-256color",
  ANTHROPIC_API_KEY: "scripted",
  // The scripted commands run on hosts without bubblewrap, too.
  HOLDFAST_SANDBOX: "off",
};
const model = await startModelServer(SCRIPT);
let dev;
let chat;
try {
  prepareProject();
  dev = await startDevServer();
  chat = openChat();
  await takePictures();
} finally {
  chat?.process.kill("SIGKILL");
  await stopDevServer();
  await model.stop();
  rmSync(temporary, { recursive: true, force: true });
}

function prepareProject() {
  cpSync(join(root, "demo", "project"), project, { recursive: true });
  writeFileSync(join(project, "agent.toml"), AGENT_FILE.replace("MODEL_ADDRESS", model.anthropicBaseUrl));
  const git = (...args) =>
    spawnSync("git", ["-c", "user.name=A", "-c", "user.email=a@b.c", ...args], { cwd: project });
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "Begin");
}

async function startDevServer() {
  const ports = ["--port", await findFreePort(), "--ui-port", await findFreePort()];
  const child = spawn(process.execPath, [holdfast, "dev", "--home", home, ...ports], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const server = { process: child, output: "" };
  child.stdout.on("data", (chunk) => {
    server.output += chunk;
  });
  await eventually(() => readWorkerPid(server), { what: "a worker", timeoutMs: WAIT_MS });
  return server;
}

function readWorkerPid({ output }) {
  return [...output.matchAll(/worker +ready, pid (\d+)/g)].map(([, pid]) => Number(pid)).at(-1);
}

async function stopDevServer() {
  if (dev === undefined) return;
  const ended = new Promise((resolve) => dev.process.once("close", resolve));
  dev.process.kill("SIGINT");
  await ended;
}

/** Opens the chat at a terminal of `script`, whose screen an emulator displays. */
function openChat() {
  const line = ["chat", "--agent", "agent.toml"];
  const [program, ...args] = [process.execPath, holdfast, ...line, "--home", home];
  // The first use of an agent file prints a note.
  spawnSync(program, args, { cwd: project, env, input: "" });
  const size = `stty rows ${ROWS} columns ${COLUMNS}; echo '${BEGINNING}'`;
  const command = `${size}; exec ${[program, ...args].join(" ")}`;
  const child = spawn("/usr/bin/script", ["-qefc", command, "/dev/null"], { cwd: project, env });
  const screen = new xterm.Terminal({ cols: COLUMNS, rows: ROWS, scrollback: 1_000, allowProposedApi: true });
  screen.onData((answer) => child.stdin.write(answer));
  child.stdout.on("data", (chunk) => screen.write(chunk));
  return { process: child, screen };
}

function readScreen({ screen }) {
  const { active } = screen.buffer;
  return Array.from(
    { length: active.length },
    (_, row) => active.getLine(row)?.translateToString(true) ?? "",
  );
}

async function waitForText(pattern) {
  await eventually(() => pattern.test(readScreen(chat).join("\n")), {
    what: `${pattern}`,
    timeoutMs: WAIT_MS,
  }).catch((error) => {
    throw new Error(`${error.message}\n${readScreen(chat).join("\n")}`);
  });
}

async function takePictures() {
  mkdirSync(images, { recursive: true });
  await waitForText(/ready ·/);
  chat.process.stdin.write(`${PROMPT}\r`);
  await model.waitForHold(GATE, { timeoutMs: WAIT_MS });
  const pid = readWorkerPid(dev);
  process.kill(pid, "SIGKILL");
  await eventually(() => readWorkerPid(dev) !== pid, { what: "another worker", timeoutMs: WAIT_MS });
  model.release(GATE);
  await waitForText(/^(?!.*writes a call).*bash wants to run.*1 Yes/s);
  const texts = readScreen(chat);
  const rows = [...texts.keys()].slice(
    texts.indexOf(BEGINNING),
    texts.findLastIndex((text) => text !== "") + 1,
  );
  writeFileSync(join(images, "terminal.svg"), drawTerminal(chat.screen, rows, "holdfast chat at a terminal"));
  chat.process.stdin.write("y\r");
  await waitForText(/Mended and committed/);
  await takeTimeline(readRun());
}

/** Finds the run's address in Temporal's UI. */
function readRun() {
  const { uiUrl } = JSON.parse(readFileSync(join(home, "server", "server.json"), "utf8"));
  const { stdout } = spawnSync(process.execPath, [holdfast, "list", "--json", "--home", home], {
    env,
    encoding: "utf8",
  });
  const { session } = JSON.parse(stdout.split("\n")[0]);
  return `${uiUrl}/namespaces/default/workflows/${session}`;
}

async function takeTimeline(address) {
  const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
    existsSync,
  );
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 1600 } });
    await page.goto(address);
    await page.getByText("git commit", { exact: false }).first().waitFor({ timeout: WAIT_MS });
    await page
      .getByText(/^close-loop/)
      .first()
      .waitFor({ timeout: WAIT_MS });
    const { y = 0 } = (await page.getByText("Timeline", { exact: true }).last().boundingBox()) ?? {};
    const clip = { x: 256, y: y - 20, width: 1024, height: 490 };
    await page.screenshot({ path: join(images, "temporal-ui.png"), clip });
  } finally {
    await browser.close();
  }
}

async function findFreePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return `${port}`;
}
