// Runs the ten programs of this folder against Temporal servers and scripted models, and checks what they print.
// Run it: node examples/first-programs/main.mjs [NAME …]
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startModelServer, startTestServer } from "holdfast/testing";
import { createWorker } from "holdfast/worker";
import ts from "typescript";
import { check } from "../run-example.mjs";
import { PROGRAMS } from "./programs.mjs";

const SOURCES = fileURLToPath(new URL(".", import.meta.url));
// Below the package, so that the programs find `holdfast` by its name.
const BUILT = fileURLToPath(new URL("../../.holdfast/first-programs/", import.meta.url));
const PROGRAM_TIMEOUT_MS = 60_000;
const KEY = "scripted";

/** Removes the types of the programs. `npm run package:check` checks these types. */
async function transpile() {
  await rm(BUILT, { recursive: true, force: true });
  await mkdir(BUILT, { recursive: true });
  const { config } = ts.readConfigFile(join(SOURCES, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, SOURCES);
  for (const name of (await readdir(SOURCES)).filter((file) => file.endsWith(".ts"))) {
    const source = await readFile(join(SOURCES, name), "utf8");
    // The format of a module depends on the nearest package.json, which belongs to the package.
    const { outputText } = ts.transpileModule(source, {
      compilerOptions: { ...options, module: ts.ModuleKind.ES2022 },
    });
    await writeFile(join(BUILT, `${basename(name, ".ts")}.js`), outputText);
  }
}

/** Starts a compiled program as a process of its own. */
function startProgram(name, env, [args = [], flags = []]) {
  const child = spawn(process.execPath, [...flags, join(BUILT, `${name}.js`), ...args], {
    cwd: SOURCES,
    env,
  });
  let output = "";
  let wake = () => {};
  const append = (chunk) => {
    output += chunk;
    wake();
  };
  child.stdout.setEncoding("utf8").on("data", append);
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (chunk) => {
    errors += chunk;
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), PROGRAM_TIMEOUT_MS);
  const ended = new Promise((resolve) => child.once("close", resolve)).then((code) => {
    clearTimeout(timer);
    wake();
    return code;
  });
  const fail = (what) => new Error(`${name} ${what}\n${output}${errors}`);
  return {
    kill: () => child.kill(),
    write: (input) => child.stdin.write(input),
    /** Waits for the end, and returns what was printed. */
    async end() {
      const code = await ended;
      if (code !== 0) throw fail(`ended with ${code ?? child.signalCode}`);
      return output;
    },
    async waitForOutput(pattern) {
      for (;;) {
        const found = pattern.exec(output);
        if (found !== null) return found;
        if (child.exitCode !== null || child.signalCode !== null) throw fail("ended too early");
        await new Promise((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

/** Runs a program with a scripted model of its own. */
async function play(name, target) {
  const { script, play } = PROGRAMS[name];
  const model = await startModelServer(script);
  const env = {
    ...process.env,
    ANTHROPIC_API_KEY: KEY,
    ANTHROPIC_BASE_URL: model.anthropicBaseUrl,
    PORT: "0",
    ...(target === undefined
      ? {}
      : {
          TEMPORAL_ADDRESS: target.address,
          TEMPORAL_NAMESPACE: target.namespace,
          HOLDFAST_HOME: target.home,
        }),
  };
  const programs = [];
  try {
    await play({
      name,
      model,
      start: (...how) => {
        programs.push(startProgram(name, env, how));
        return programs.at(-1);
      },
    });
  } catch (error) {
    check(`${name}: ${error.message}`, false);
  } finally {
    for (const program of programs) program.kill();
    await model.stop();
  }
}

/** Starts a server, and calls the work with its address and an empty home folder. */
async function withServer(work) {
  const home = await mkdtemp(join(tmpdir(), "holdfast-example-"));
  const server = await startTestServer();
  try {
    await work({ address: server.address, namespace: server.namespace, home });
  } finally {
    await server.stop();
    await rm(home, { recursive: true, force: true });
  }
}

/** Starts a worker beside the programs, as `holdfast dev` does. */
async function withWorker(target, work) {
  process.env.ANTHROPIC_API_KEY = KEY;
  // The programs run on hosts without bubblewrap too; their agents run no commands.
  const worker = await createWorker({ ...target, sandbox: "off" });
  const working = worker.run();
  try {
    await work();
  } finally {
    worker.shutdown();
    await working;
  }
}

const chosen = process.argv.slice(2);
const names = chosen.length > 0 ? chosen : Object.keys(PROGRAMS);
const select = (needs) => names.filter((name) => PROGRAMS[name]?.needs === needs);

await transpile();
await Promise.all([playShared(select("worker")), playAlone(select("server"), select("nothing"))]);

/** Programs that bring no worker share a server with one. */
async function playShared(names) {
  if (names.length === 0) return;
  await withServer((target) =>
    withWorker(target, async () => {
      for (const name of names) await play(name, target);
    }),
  );
}

/** A program with a worker of its own has its own server, because workers of one server share the calls of their queue. */
async function playAlone(names, independent) {
  for (const name of names) await withServer((target) => play(name, target));
  for (const name of independent) await play(name);
}
