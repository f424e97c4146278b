// Holdfast as people start it: `holdfast dev`, `worker`, `serve` and single commands, each a process of its own.
import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { eventually } from "./eventually.mjs";
import { findFreePort } from "./free-port.mjs";

const CLI = fileURLToPath(new URL("../../../dist/apps/cli/main.js", import.meta.url));

/** How long a command of one answer may take on a busy machine. */
const COMMAND_LIMIT_MS = 60_000;
/** How long a process may drain before it is killed. */
const END_LIMIT_MS = 30_000;

/**
 * Starts a command that runs until it is ended. Its output goes to `LABEL.log` of the scenario's folder, too.
 *
 * @param options.flags - Of Node.
 */
export function startHoldfast(stage, args, { env = {}, flags = [], label = args[0] } = {}) {
  const child = spawn(process.execPath, [...flags, CLI, ...args], {
    // The campaign runs on hosts without bubblewrap, too.
    env: { HOLDFAST_SANDBOX: "off", ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const log = createWriteStream(join(stage.folder, `${label}.log`), { flags: "a" });
  log.on("error", () => {});
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"])
    child[name].setEncoding("utf8").on("data", (text) => {
      output[name] += text;
      log.write(text);
    });
  const ended = new Promise((resolve) => {
    child.once("close", (code, signal) => {
      log.end();
      resolve({ code, signal });
    });
  });
  const end = async (signal = "SIGTERM") => {
    child.kill(signal);
    const killTimer = setTimeout(() => child.kill("SIGKILL"), END_LIMIT_MS);
    const exit = await ended;
    clearTimeout(killTimer);
    return exit;
  };
  stage.onEnd(() => end());
  return {
    pid: child.pid,
    said: output,
    ended,
    end,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    /** The JSON objects that it has printed, one a line. */
    lines: () => output.stdout.split("\n").flatMap(parseJson),
  };
}

/** `holdfast dev --json` on a home, ready to work. */
export async function startDev(stage, home, { env = {} } = {}) {
  // A server that runs at the usual port would be joined.
  const ports = ["--port", String(await findFreePort()), "--ui-port", String(await findFreePort())];
  const dev = startHoldfast(stage, ["--json", "--home", home, "dev", ...ports], { env, label: "dev" });
  const line = (type) =>
    eventually(
      () => {
        if (dev.hasEnded()) throw new Error(`holdfast dev has ended: ${dev.said.stderr}`);
        return dev.lines().find((one) => one.type === type);
      },
      { timeoutMs: 90_000, what: `the line "${type}" of holdfast dev` },
    );
  const server = await line("server");
  await line("worker-ready");
  return { ...dev, address: server.address, namespace: server.namespace };
}

/** Runs one command to its end. */
export async function runHoldfast(stage, args, { env = {}, limitMs = COMMAND_LIMIT_MS } = {}) {
  const command = startHoldfast(stage, args, { env, label: "commands" });
  const killTimer = setTimeout(() => command.end("SIGKILL"), limitMs);
  const { code, signal } = await command.ended;
  clearTimeout(killTimer);
  return { code, signal, ...command.said };
}

function parseJson(line) {
  if (!line.startsWith("{")) return [];
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}
