import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { describeIf, testIf } from "../../support/skipping.ts";
import { isThorough, thoroughTest } from "../../support/test-depth.ts";
import { eventually, killMarked, listCommandLines } from "../../tools/processes.ts";
import { HOST, NO_SANDBOX } from "./host.ts";
import { findNamespace, listMembers } from "./run-sandbox.ts";

// A separate process runs a sandbox and receives SIGKILL, as a worker would: as the user of the test, and as an ordinary
// user, for whom bwrap and nsenter need the sandbox's user namespace.

let folder: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "holdfast-sandbox-death-")));
  await chmod(folder, 0o755);
  await mkdir(join(folder, "workspace"));
  await chmod(join(folder, "workspace"), 0o777);
  await build({
    stdin: {
      contents: `
        import { startSandbox } from "./src/platform/sandbox/start-sandbox.ts";
        const [programs, workspace, script, call, network] = process.argv.slice(2);
        const sandbox = await startSandbox({
          plan: {
            mode: "workspace", workspace, isReadOnly: false, cwd: workspace, home: "/tmp/home", holdfastHome: "/tmp/holdfast",
            readable: [], writable: [], env: { PATH: "/usr/bin:/bin", HOLDFAST_CALL: call }, protectedPaths: [], hiddenPaths: [], tmpfsBytes: 1000000,
          },
          programs: JSON.parse(programs), command: "/bin/bash", args: ["-c", script], stdin: "ignore",
          ...(network === "network" && { network: { rules: [], onConnection: (report) => process.stdout.write(JSON.stringify(report) + "\\n") } }),
        });
        for (const stream of [sandbox.child.stdout, sandbox.child.stderr]) stream.on("data", (text) => process.stdout.write(text));
        sandbox.parentPipe.write("go\\n");
        process.stdout.write(JSON.stringify(await sandbox.ended) + "\\n");
        sandbox.parentPipe.destroy();`,
      resolveDir: resolve(import.meta.dirname, "../../.."),
      loader: "ts",
    },
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: join(folder, "worker.mjs"),
  });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const ORDINARY_USER = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"];

const canChangeUser = (() => {
  try {
    const [program = "", ...args] = ORDINARY_USER;
    execFileSync(program, [...args, process.execPath, "-e", "0"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

type Worker = { readonly child: ChildProcess; readonly call: string; readonly output: () => string };

let calls = 0;

function startWorker(user: readonly string[], script: string, network = ""): Worker {
  calls += 1;
  const call = `sandbox-death-${process.pid}-${calls}`;
  const programs = HOST.able ? JSON.stringify(HOST.programs) : "";
  const command = [
    process.execPath,
    join(folder, "worker.mjs"),
    programs,
    join(folder, "workspace"),
    script,
    call,
    network,
  ];
  const [program = "", ...args] = [...user, ...command];
  const child = spawn(program, args, { cwd: "/", env: {}, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => {
    child.kill("SIGKILL");
    killMarked(`HOLDFAST_CALL=${call}`);
  });
  let output = "";
  child.stdout?.on("data", (chunk) => {
    output += chunk;
  });
  return { child, call, output: () => output };
}

const USERS = [
  ["the user of the test", [], true],
  ["an ordinary user", ORDINARY_USER, canChangeUser],
] as const;

describeIf(HOST.able, NO_SANDBOX)("a worker that has inherited descriptors", () => {
  test("does not leave them to the command", async () => {
    const withDescriptors = ["/bin/bash", "-c", 'exec 9</etc/hostname 99</etc/hostname; exec "$@"', "bash"];
    const worker = startWorker(withDescriptors, "echo fds: $(ls /proc/self/fd)");
    await eventually(worker.output, (output) => output.includes('"type"'));
    expect(worker.output()).toContain("fds: 0 1 2 3\n");
  });
});

describeIf(HOST.able, NO_SANDBOX)("the death of a worker", () => {
  for (const [name, user, isPossible] of USERS) {
    const userTest = testIf(isPossible, "the test cannot become another user");

    userTest(`leaves no process of a sandbox of ${name}`, async () => {
      for (const network of ["", "network"]) {
        const script = "setsid sleep 1000 & env -i setsid sleep 1000 & trap '' TERM HUP; echo ready; wait";
        const worker = startWorker(user, script, network);
        await eventually(worker.output, (output) => output.includes("ready"));
        const namespace = findNamespace(worker.call);
        expect(listMembers(namespace).length).toBeGreaterThan(3);
        worker.child.kill("SIGKILL");
        await eventually(
          () => listMembers(namespace),
          (left) => left.length === 0,
        );
        await eventually(
          () => listCommandLines(`HOLDFAST_CALL=${worker.call}`),
          (left) => left.length === 0,
        );
      }
    });

    // `npm test` tries the moments as one user.
    const momentTest = canChangeUser && user.length === 0 ? thoroughTest : userTest;
    momentTest(`at any moment leaves no process of a sandbox of ${name}`, async () => {
      const workers: Worker[] = [];
      for (let round = 0; round < (isThorough ? 200 : 20); round += 1) {
        const worker = startWorker(user, "setsid sleep 1000 & sleep 1000", round % 2 === 0 ? "network" : "");
        workers.push(worker);
        // Node takes some 40 milliseconds to start, and a sandbox with a proxy as many.
        await delay(30 + (round % 20) * 6);
        worker.child.kill("SIGKILL");
      }
      await eventually(
        () => workers.flatMap(({ call }) => listCommandLines(`HOLDFAST_CALL=${call}`)),
        (left) => left.length === 0,
      );
    });

    userTest(`the proxy answers in a sandbox of ${name}`, async () => {
      const ask =
        "exec 4<>/dev/tcp/127.0.0.1/18080; printf 'CONNECT other.test:443 HTTP/1.1\\r\\n\\r\\n' >&4; head -c 30 <&4; echo; id -u";
      const worker = startWorker(user, ask, "network");
      await eventually(worker.output, (output) => output.includes('"type"'));
      expect(worker.output()).toContain("HTTP/1.1 403 Forbidden");
      expect(worker.output()).toContain('"reason":"not-allowed"');
      expect(worker.output()).toContain('{"type":"ran","exitCode":0}');
      if (user.length > 0) expect(worker.output()).toContain("\n65534\n");
    });
  }
});
