import { execFileSync } from "node:child_process";
import { chmod, mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { describe, expect, onTestFinished, test } from "vitest";
import { startGroup } from "../../../src/platform/process/start-group.ts";
import { findHiddenPaths } from "../../../src/platform/sandbox/find-hidden-paths.ts";
import type { SandboxPlan } from "../../../src/platform/sandbox/sandbox-plan.ts";
import {
  computeProfileKey,
  getWorkspace,
  runSelfTest,
  type SandboxProfile,
  type StartAct,
  tryActs,
} from "../../../src/platform/sandbox/self-test.ts";
import { type ActName, FORBIDDEN_ACTS } from "../../../src/platform/sandbox/self-test-acts.ts";
import { createScratch, type Scratch } from "../../../src/platform/sandbox/self-test-scratch.ts";
import { type SandboxEnding, startSandbox } from "../../../src/platform/sandbox/start-sandbox.ts";
import { describeIf, testIf } from "../../support/skipping.ts";
import { thoroughTest } from "../../support/test-depth.ts";
import { createTemporaryFolder } from "../../tools/tool-context.ts";
import { HOST, NO_SANDBOX } from "./host.ts";

const NAMES = Object.keys(FORBIDDEN_ACTS) as ActName[];

const PLAN: SandboxProfile["plan"] = {
  mode: "workspace",
  workspace: "/nowhere",
  isReadOnly: false,
  cwd: "/nowhere",
  home: "/tmp/home",
  holdfastHome: "/tmp/holdfast-home",
  readable: [],
  writable: [],
  env: { PATH: "/usr/bin:/bin", HOME: "/tmp/home" },
  protectedPaths: [],
  hiddenPaths: await findHiddenPaths("/tmp/no-home"),
  tmpfsBytes: 64 * 1024 * 1024,
};

const PROGRAMS = HOST.able ? HOST.programs : { bwrap: "", setsid: "/usr/bin/setsid", prlimit: "" };
const IS_ROOT = process.getuid?.() === 0;

const describeSandbox = describeIf(HOST.able, NO_SANDBOX);

/** Each act and its outcome; the detail of an unexpected one tells why. */
const summarize = (acts: Awaited<ReturnType<typeof runSelfTest>>["acts"], expected: string) =>
  acts
    .filter(({ outcome }) => outcome !== expected)
    .map(({ name, outcome, detail }) => ({ name, outcome, detail }));

test("there are twelve acts, each with its criterion", () => {
  expect(NAMES).toHaveLength(12);
  for (const { forbidden, criterion } of Object.values(FORBIDDEN_ACTS)) {
    expect(forbidden).toMatch(/^[A-Z]/);
    expect(criterion).toMatch(/\.$/);
  }
});

describeSandbox("the self-test of a sandbox", () => {
  const PASSED = "that prevents all acts is passed: %o";
  const expectPassed = async (overrides: Partial<SandboxPlan>) => {
    const { acts, ok } = await runSelfTest({ plan: { ...PLAN, ...overrides }, programs: PROGRAMS });
    expect(summarize(acts, "prevented")).toEqual([]);
    expect(acts.map(({ name }) => name)).toEqual(NAMES);
    expect(ok).toBe(true);
  };
  test.each<Partial<SandboxPlan>>([{ mode: "strict" }, { mode: "workspace", isReadOnly: true }])(
    PASSED,
    expectPassed,
  );
  thoroughTest.each<Partial<SandboxPlan>>([{ mode: "workspace" }, { mode: "strict", isReadOnly: true }])(
    PASSED,
    expectPassed,
  );

  test("with network rules is passed", async () => {
    const network = { rules: [], onConnection: () => {} };
    const { acts, ok } = await runSelfTest({ plan: PLAN, programs: PROGRAMS, network });
    expect([summarize(acts, "prevented"), ok]).toEqual([[], true]);
  });

  test("whose temporary folder may be written uses another place", async () => {
    const folder = await realpath(tmpdir());
    const scratch = await createScratch({ ...PLAN, writable: [folder] });
    onTestFinished(scratch.remove);
    expect(scratch.workspace.startsWith(`${folder}/`)).toBe(false);
  });

  test("leaves no file and no process behind", async () => {
    // Other tests have folders of the same name in the common one.
    const folder = await createTemporaryFolder();
    const { TMPDIR } = process.env;
    onTestFinished(() => {
      if (TMPDIR === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = TMPDIR;
    });
    process.env["TMPDIR"] = folder;
    const { acts } = await runSelfTest({ plan: PLAN, programs: PROGRAMS });
    expect(acts.every(({ outcome }) => outcome === "prevented")).toBe(true);
    expect(await readdir(folder)).toEqual([]);
  });

  test("that cannot be made is not passed, and no act counts as tried", async () => {
    const plan = { ...PLAN, readable: ["/no/such/folder"] };
    const { acts, ok } = await runSelfTest({ plan, programs: PROGRAMS });
    expect([summarize(acts, "not-tried"), ok]).toEqual([[], false]);
  });

  test("without a program that an act needs is not passed, and says which", async () => {
    const programs = { ...PROGRAMS, setsid: "/no/such/program" };
    const { acts, ok } = await runSelfTest({ plan: PLAN, programs });
    expect([summarize(acts, "not-tried"), ok]).toEqual([[], false]);
    expect(acts[0]?.detail).toContain("/no/such/program");
  });

  thoroughTest("is quick", async () => {
    const times: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const start = performance.now();
      await runSelfTest({ plan: PLAN, programs: PROGRAMS });
      times.push(performance.now() - start);
    }
    // Half a second on an idle machine with two processors; other tests run at the same time.
    console.info(`self-test: ${times.map((time) => `${time.toFixed(0)} ms`).join(", ")}`);
    expect(Math.min(...times)).toBeLessThan(4000);
  });
});

/** Starts an attempt without any sandbox, as mode "off" does. */
const startOnHost: (scratch: Scratch, prefix?: readonly string[]) => StartAct =
  (scratch, prefix = []) =>
  async (command, mark, act) => {
    const [program = "", ...args] = [...prefix, ...command];
    const group = await startGroup({
      command: program,
      args,
      cwd: getWorkspace(scratch, act),
      env: { PATH: "/usr/bin:/bin", HOLDFAST_CALL: mark },
      stdin: "ignore",
    });
    const ended = new Promise<SandboxEnding>((settle) => {
      group.child.once("exit", (exitCode) =>
        settle(exitCode === null ? { type: "killed" } : { type: "ran", exitCode }),
      );
    });
    return { ...group, ended };
  };

/** Starts an attempt in a sandbox that lacks something. */
const startWeakly: (scratch: Scratch, overrides: Partial<SandboxPlan>) => StartAct =
  (scratch, overrides) =>
  ([command, ...args], mark, act) =>
    startSandbox({
      plan: {
        ...PLAN,
        workspace: getWorkspace(scratch, act),
        cwd: getWorkspace(scratch, act),
        readable: [scratch.tools, scratch.outside],
        env: { ...PLAN.env, HOLDFAST_CALL: mark },
        ...overrides,
      },
      programs: PROGRAMS,
      command,
      args,
      stdin: "ignore",
    });

async function tryWith(name: ActName, getStart: (scratch: Scratch) => StartAct) {
  const scratch = await createScratch({ ...PLAN, systemFolders: [] });
  const { acts } = await tryActs(scratch, PROGRAMS, getStart(scratch), [name]);
  return acts[0];
}

const readSetting = async (path: string) => (await readFile(path, "utf8").catch(() => "0")).trim();
const canTrace = IS_ROOT || (await readSetting("/proc/sys/kernel/yama/ptrace_scope")) === "0";
const ioUringDisabled = await readSetting("/proc/sys/kernel/io_uring_disabled");
const canMount = (() => {
  try {
    execFileSync("unshare", ["--user", "--map-root-user", "--mount", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

describe("without a sandbox, each act succeeds, so that the self-test could fail", () => {
  const isLinux = process.platform === "linux";
  const SIMPLE = [
    "unix-socket",
    "connect-outside",
    "write-outside",
    "read-environment",
    "leave-group",
    "follow-link",
  ];

  for (const name of SIMPLE as ActName[]) {
    testIf(isLinux && HOST.able, NO_SANDBOX)(name, async () => {
      expect(await tryWith(name, startOnHost)).toMatchObject({ outcome: "succeeded" });
    });
  }

  testIf(isLinux && IS_ROOT, "only root may read /etc/shadow")("read-shadow", async () => {
    expect(await tryWith("read-shadow", startOnHost)).toMatchObject({ outcome: "succeeded" });
  });

  testIf(isLinux && canTrace, "this host does not let a process trace its parent")("ptrace", async () => {
    expect(await tryWith("ptrace", startOnHost)).toMatchObject({ outcome: "succeeded" });
  });

  testIf(isLinux && ioUringDisabled === "0", "this host has no io_uring")("io-uring", async () => {
    expect(await tryWith("io-uring", startOnHost)).toMatchObject({ outcome: "succeeded" });
  });

  testIf(isLinux && canMount, "this host lets no user mount in namespaces of their own")(
    "mount",
    async () => {
      const prefix = ["unshare", "--user", "--map-root-user", "--mount"];
      expect(await tryWith("mount", (scratch) => startOnHost(scratch, prefix))).toMatchObject({
        outcome: "succeeded",
      });
    },
  );
});

describeSandbox("in a sandbox that lacks something, the act that it should prevent succeeds", () => {
  const MIB = 1024 ** 2;

  test.each<readonly [string, ActName, Partial<SandboxPlan>]>([
    ["a bound of processes", "fork-bomb", { bounds: { processes: 200 } }],
    ["a bound of the workspace", "fill-disk", { tmpfsBytes: MIB, bounds: { workspaceBytes: 64 * MIB } }],
    ["a bound of temporary file systems", "fill-disk", { bounds: { workspaceBytes: 4 * MIB } }],
  ])("%s", async (_, name, overrides) => {
    const result = await tryWith(name, (scratch) => startWeakly(scratch, overrides));
    expect(result).toMatchObject({ outcome: "succeeded" });
  });

  test("a read-only view of the host", async () => {
    for (const name of ["write-outside", "follow-link"] as const) {
      const result = await tryWith(name, (scratch) =>
        startWeakly(scratch, { readable: [scratch.tools], writable: [scratch.outside] }),
      );
      expect([name, result]).toMatchObject([name, { outcome: "succeeded" }]);
    }
  });

  testIf(HOST.able && IS_ROOT, "only root may read /etc/shadow")("hidden files", async () => {
    const result = await tryWith("read-shadow", (scratch) => startWeakly(scratch, { hiddenPaths: [] }));
    expect(result).toMatchObject({ outcome: "succeeded" });
  });
});

const ORDINARY_USER = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"];

const canChangeUser = (() => {
  try {
    const [program = "", ...args] = ORDINARY_USER;
    execFileSync(program, [...args, process.execPath, "-e", "0"], { stdio: "ignore" });
    return HOST.able;
  } catch {
    return false;
  }
})();

testIf(canChangeUser, "the test cannot become another user")(
  "an ordinary user's self-test is passed",
  async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "holdfast-self-test-user-")));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await chmod(folder, 0o755);
    const outfile = join(folder, "run.mjs");
    await build({
      stdin: {
        contents: `
        import { runSelfTest } from "./src/platform/sandbox/self-test.ts";
        const [plan, programs] = process.argv.slice(2).map((text) => JSON.parse(text));
        process.stdout.write(JSON.stringify({ uid: process.getuid(), ...(await runSelfTest({ plan, programs })) }));`,
        resolveDir: resolve(import.meta.dirname, "../../.."),
        loader: "ts",
      },
      bundle: true,
      platform: "node",
      format: "esm",
      outfile,
    });
    for (const mode of ["workspace", "strict"]) {
      const [program = "", ...args] = [...ORDINARY_USER, process.execPath, outfile];
      const output = execFileSync(
        program,
        [...args, JSON.stringify({ ...PLAN, mode }), JSON.stringify(PROGRAMS)],
        {
          cwd: "/",
          encoding: "utf8",
          env: {},
        },
      );
      const { uid, acts, ok } = JSON.parse(output);
      expect([uid, summarize(acts, "prevented"), ok]).toEqual([65_534, [], true]);
    }
  },
);

describe("the key of a profile", () => {
  const key = (plan: Partial<SandboxPlan>, network?: SandboxProfile["network"]) =>
    computeProfileKey({ plan: { ...PLAN, ...plan }, programs: PROGRAMS, network });

  test("is the same for every workspace and environment", () => {
    const other = { workspace: "/w", cwd: "/w/x", env: { TOKEN: "secret" }, protectedPaths: ["/w/.git"] };
    expect(key(other)).toBe(key({}));
  });

  test("differs if the sandbox does", () => {
    const keys = [
      key({}),
      key({ mode: "strict" }),
      key({ isReadOnly: true }),
      key({ readable: ["/opt"] }),
      key({ writable: ["/opt"] }),
      key({ hiddenPaths: [] }),
      key({ bounds: { processes: 100 } }),
      key({}, { rules: [], onConnection: () => {} }),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });
});
