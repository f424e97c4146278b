import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildBwrapArguments } from "../../../src/platform/sandbox/build-bwrap-arguments.ts";
import { isWithin, type SandboxPlan, SandboxPlanError } from "../../../src/platform/sandbox/sandbox-plan.ts";
import { must } from "../../support/must.ts";

const PLAN: SandboxPlan = {
  mode: "workspace",
  workspace: "/home/user/project",
  isReadOnly: false,
  cwd: "/home/user/project",
  home: "/home/user",
  holdfastHome: "/home/user/.holdfast",
  readable: [],
  writable: [],
  env: { PATH: "/usr/bin" },
  protectedPaths: [],
  hiddenPaths: [{ path: "/home", type: "folder" }],
  tmpfsBytes: 1_000_000,
  descriptors: { seccomp: 5, status: 6 },
};

type Access = "host-writable" | "host-read-only" | "empty" | "scratch" | "own";
type Mount = { readonly at: string; readonly access: Access; readonly source?: string };

/** Reads the mounts from the arguments, in their order. */
function readMounts(args: readonly string[]): Mount[] {
  const mounts: Mount[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const [option, first = "", second = ""] = args.slice(index, index + 3);
    if (option === "--bind") mounts.push({ at: second, access: "host-writable", source: first });
    if (option === "--ro-bind" || option === "--ro-bind-try") {
      const access = first === "/dev/null" ? "empty" : "host-read-only";
      mounts.push({ at: second, access, source: first });
    }
    if (option === "--tmpfs") mounts.push({ at: first, access: "scratch" });
    if (option === "--proc" || option === "--dev") mounts.push({ at: first, access: "own" });
    if (option === "--remount-ro") {
      const last = mounts.findLastIndex(({ at }) => at === first);
      if (last !== -1 && mounts[last]!.access === "scratch")
        mounts[last] = { ...mounts[last]!, access: "empty" };
    }
  }
  return mounts;
}

/** What a path is in the sandbox: a later mount covers all earlier ones at or below its place. */
function getAccess(mounts: readonly Mount[], path: string): Access {
  return mounts.findLast(({ at }) => isWithin(path, at))?.access ?? "empty";
}

const build = (overrides: Partial<SandboxPlan> = {}) => buildBwrapArguments({ ...PLAN, ...overrides });
const accessOf = (overrides: Partial<SandboxPlan>, path: string) =>
  getAccess(readMounts(build(overrides)), path);

describe("the arguments", () => {
  test("of a workspace sandbox", () => {
    expect(
      build({
        protectedPaths: ["/home/user/project/.git/hooks"],
        descriptors: { seccomp: 5, status: 6, hold: 7 },
      }),
    ).toMatchInlineSnapshot(`
      [
        "--unshare-user",
        "--unshare-ipc",
        "--unshare-pid",
        "--unshare-net",
        "--unshare-uts",
        "--unshare-cgroup",
        "--die-with-parent",
        "--cap-drop",
        "ALL",
        "--hostname",
        "sandbox",
        "--clearenv",
        "--setenv",
        "PATH",
        "/usr/bin",
        "--ro-bind",
        "/",
        "/",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--size",
        "1000000",
        "--perms",
        "1777",
        "--tmpfs",
        "/dev/shm",
        "--remount-ro",
        "/dev",
        "--size",
        "65536",
        "--perms",
        "0755",
        "--tmpfs",
        "/home",
        "--size",
        "65536",
        "--perms",
        "0755",
        "--tmpfs",
        "/run",
        "--size",
        "1000000",
        "--perms",
        "1777",
        "--tmpfs",
        "/tmp",
        "--size",
        "1000000",
        "--perms",
        "0700",
        "--tmpfs",
        "/home/user",
        "--bind",
        "/home/user/project",
        "/home/user/project",
        "--bind",
        "/home/user/project/.git",
        "/home/user/project/.git",
        "--ro-bind",
        "/home/user/project/.git/hooks",
        "/home/user/project/.git/hooks",
        "--file",
        "7",
        "/run/holdfast-proxy",
        "--remount-ro",
        "/home",
        "--remount-ro",
        "/run",
        "--chdir",
        "/home/user/project",
        "--seccomp",
        "5",
        "--json-status-fd",
        "6",
      ]
    `);
  });

  test("of a strict sandbox end with the root read-only", () => {
    const args = build({ mode: "strict" });
    expect(args.slice(args.lastIndexOf("--remount-ro"), args.indexOf("--chdir"))).toEqual([
      "--remount-ro",
      "/",
    ]);
    expect(args.filter((_, index) => args[index - 2] === "--ro-bind")).toEqual([]);
  });

  test.each(["workspace", "strict"] as const)("separate everything in mode %s", (mode) => {
    expect(build({ mode })).toEqual(
      expect.arrayContaining([
        ...["user", "ipc", "pid", "net", "uts", "cgroup"].map((name) => `--unshare-${name}`),
        "--die-with-parent",
        "--clearenv",
        "--seccomp",
      ]),
    );
    expect(
      build({ mode }).filter(
        (arg) =>
          /^--share-net|new-session|cap-add|unshare-all|-try$/.test(arg) && !arg.startsWith("--ro-bind"),
      ),
    ).toEqual([]);
  });
});

describe("what a path is", () => {
  test.each([
    ["/home/user/project/a", "host-writable"],
    ["/home/user/other", "scratch"],
    ["/home/other/a", "empty"],
    ["/home/user/.holdfast/transcript.db", "scratch"],
    ["/etc/passwd", "host-read-only"],
    ["/tmp/a", "scratch"],
    ["/run/a", "empty"],
    ["/dev/a", "own"],
    ["/proc/1", "own"],
  ])("%s is %s", (path, access) => {
    expect(accessOf({}, path)).toBe(access);
  });

  test("a read-only sandbox has no writable file of the host", () => {
    const overrides = {
      isReadOnly: true,
      writable: ["/data"],
      protectedPaths: ["/home/user/project/.git/config"],
    };
    expect(build(overrides)).not.toContain("--bind");
    expect(accessOf(overrides, "/data/a")).toBe("host-read-only");
  });

  test("the folders that lead to a protected path are mount points, which cannot be renamed", () => {
    const mounts = readMounts(build({ protectedPaths: ["/home/user/project/a/b/hooks"] }));
    expect(mounts.slice(-4)).toMatchObject([
      { at: "/home/user/project", access: "host-writable" },
      { at: "/home/user/project/a", access: "host-writable" },
      { at: "/home/user/project/a/b", access: "host-writable" },
      { at: "/home/user/project/a/b/hooks", access: "host-read-only" },
    ]);
  });

  test("Holdfast's own folder is empty within a folder that contains it", () => {
    const overrides = { workspace: "/data", cwd: "/data", holdfastHome: "/data/.holdfast" };
    expect(accessOf(overrides, "/data/.holdfast/transcript.db")).toBe("empty");
    expect(accessOf({ ...overrides, mode: "strict" }, "/data/.holdfast/transcript.db")).toBe("empty");
  });

  test.each(["workspace", "strict"] as const)(
    "the skills in Holdfast's own folder can be read, and nothing else of it, in mode %s",
    (mode) => {
      const skills = "/home/user/.holdfast/skills";
      for (const readable of [[skills], [`${skills}/one`]]) {
        expect(accessOf({ mode, readable }, `${skills}/one/run.sh`)).toBe("host-read-only");
        expect(accessOf({ mode, readable }, "/home/user/.holdfast/transcript.db")).not.toMatch(/^host/);
      }
      const within = { mode, workspace: "/data", cwd: "/data", holdfastHome: "/data/.holdfast" };
      const readable = ["/data/.holdfast/skills"];
      expect(accessOf({ ...within, readable }, "/data/.holdfast/skills/one")).toBe("host-read-only");
      expect(accessOf({ ...within, readable }, "/data/.holdfast/transcript.db")).toBe("empty");
    },
  );

  test("a hidden path is empty within a folder that contains it, unless a setting names it", () => {
    const overrides = {
      workspace: "/data",
      cwd: "/data",
      hiddenPaths: [
        { path: "/data/.ssh", type: "folder" },
        { path: "/data/.netrc", type: "file" },
      ],
    } as const;
    expect(accessOf(overrides, "/data/.ssh/id")).toBe("empty");
    expect(accessOf(overrides, "/data/.netrc")).toBe("empty");
    expect(accessOf({ ...overrides, readable: ["/data/.ssh"] }, "/data/.ssh/id")).toBe("host-read-only");
    expect(accessOf({ ...overrides, readable: ["/data/.ssh/config"] }, "/data/.ssh/id")).toBe("empty");
    expect(accessOf({ ...overrides, readable: ["/data/.ssh/config"] }, "/data/.ssh/config")).toBe(
      "host-read-only",
    );
  });
});

describe("a plan is refused", () => {
  test.each([
    ["mode off", { mode: "off" as never }],
    ["a relative path", { workspace: "project" }],
    ["the root", { workspace: "/", cwd: "/" }],
    ["a path that leads upwards", { readable: ["/data/../etc"] }],
    ["a path with an empty part", { readable: ["/data//a"] }],
    ["a NUL character", { readable: ["/data\0"] }],
    ["Holdfast's own folder", { readable: ["/home/user/.holdfast"] }],
    ["a part of Holdfast's own folder", { writable: ["/home/user/.holdfast/live"] }],
    ["a folder beside the skills", { readable: ["/home/user/.holdfast/skills-old"] }],
    ["skills that can be written", { writable: ["/home/user/.holdfast/skills"] }],
    [
      "skills that can be written and read",
      { writable: ["/home/user/.holdfast/skills"], readable: ["/home/user/.holdfast/skills"] },
    ],
    ["the skills as the workspace", { workspace: "/home/user/.holdfast/skills" }],
    ["the kernel's folders", { readable: ["/proc/1"] }],
    ["the folder of services", { writable: ["/run"] }],
    ["a working directory outside", { cwd: "/etc" }],
    ["a protected path outside", { protectedPaths: ["/etc/passwd"] }],
    ["a variable with a NUL character", { env: { A: "\0--bind\0/\0/" } }],
    ["a variable without a name", { env: { "": "a" } }],
    ["no size", { tmpfsBytes: 0 }],
    ["the same descriptor twice", { descriptors: { seccomp: 5, status: 5 } }],
    ["a standard stream", { descriptors: { seccomp: 2, status: 5 } }],
  ])("with %s", (_, overrides) => {
    expect(() => build(overrides)).toThrow(SandboxPlanError);
  });
});

const part = fc.constantFrom("a", "b", ".git", "c");
const path = fc
  .tuple(
    fc.constantFrom("/home", "/data", "/tmp", "/var", "/usr"),
    fc.array(part, { minLength: 1, maxLength: 4 }),
  )
  .map(([root, parts]) => [root, ...parts].join("/"));
const plan: fc.Arbitrary<SandboxPlan> = fc
  .record({
    mode: fc.constantFrom("workspace", "strict"),
    workspace: path,
    isReadOnly: fc.boolean(),
    home: path,
    holdfastHome: path,
    readable: fc.array(path, { maxLength: 3 }),
    writable: fc.array(path, { maxLength: 3 }),
    hiddenPaths: fc.array(fc.record({ path, type: fc.constantFrom("folder", "file") }), { maxLength: 3 }),
    inner: fc.array(fc.array(part, { minLength: 1, maxLength: 3 }), { maxLength: 3 }),
  })
  .map(({ inner, ...drawn }) => ({
    ...PLAN,
    ...drawn,
    env: {},
    cwd: drawn.workspace,
    protectedPaths: inner.map((parts) => [drawn.workspace, ...parts].join("/")),
  }))
  .filter(({ workspace, readable, writable, holdfastHome }) =>
    [workspace, ...readable, ...writable].every((one) => !isWithin(one, holdfastHome)),
  );

describe("whatever the plan", () => {
  test("nothing of Holdfast's own folder is in the sandbox", () => {
    fc.assert(
      fc.property(plan, fc.array(part), (drawn, parts) => {
        const mounts = readMounts(buildBwrapArguments(drawn));
        const { holdfastHome } = drawn;
        must(
          mounts.every(({ source }) => source === undefined || !isWithin(source, holdfastHome)),
          "a source is in the folder",
        );
        const access = getAccess(mounts, [holdfastHome, ...parts].join("/"));
        must(access === "empty" || access === "scratch", `the folder is ${access}`);
      }),
      { numRuns: 500 },
    );
  });

  test("every mount of the host is at its own path", () => {
    fc.assert(
      fc.property(plan, (drawn) => {
        for (const { at, source } of readMounts(buildBwrapArguments(drawn))) {
          must(source === undefined || source === at || source === "/dev/null", `${source} is at ${at}`);
        }
      }),
    );
  });

  test("the deepest entry of the plan decides what a path is, and protection makes it read-only", () => {
    fc.assert(
      fc.property(plan, path, (drawn, probed) => {
        const {
          mode,
          workspace,
          isReadOnly,
          home,
          holdfastHome,
          readable,
          writable,
          hiddenPaths,
          protectedPaths,
        } = drawn;
        // Of two entries for one path, the later one counts.
        const entries: (readonly [string, Access])[] = [
          ["", mode === "workspace" || isWithin(probed, "/usr") ? "host-read-only" : "empty"],
          ...hiddenPaths.map(({ path }) => [path, "empty"] as const),
          [holdfastHome, "empty"],
          ["/tmp", "scratch"],
          [home, "scratch"],
          ...[workspace, ...writable].map(
            (at) => [at, isReadOnly ? "host-read-only" : "host-writable"] as const,
          ),
          ...readable.map((at) => [at, "host-read-only"] as const),
        ];
        const containing = entries.filter(([at]) => at === "" || isWithin(probed, at));
        const depth = Math.max(...containing.map(([at]) => at.length));
        let expected = containing.findLast(([at]) => at.length === depth)![1];
        if (
          expected === "host-writable" &&
          protectedPaths.some((one) => isWithin(probed, one) && one.length > depth)
        ) {
          expected = "host-read-only";
        }
        const actual = getAccess(readMounts(buildBwrapArguments(drawn)), probed);
        // An empty folder within another file system of the sandbox is part of that one.
        const isSame =
          actual === expected || (expected === "empty" && actual === "scratch" && !isHost(actual));
        must(isSame, `${probed} is ${actual}, not ${expected}`);
      }),
      { numRuns: 1000 },
    );
  });

  test("everything that processes can write, but the plan's folders, has a size", () => {
    fc.assert(
      fc.property(plan, (drawn) => {
        const args = buildBwrapArguments(drawn);
        for (const [index, arg] of args.entries()) {
          if (arg === "--tmpfs")
            must(args.slice(index - 4, index).includes("--size"), "a file system has no size");
        }
        const sources = readMounts(args).filter(({ access }) => access === "host-writable");
        const folders = drawn.isReadOnly ? [] : [drawn.workspace, ...drawn.writable];
        must(
          sources.every(({ at }) => folders.some((folder) => isWithin(at, folder))),
          "something else is writable",
        );
      }),
    );
  });
});

function isHost(access: Access): boolean {
  return access === "host-writable" || access === "host-read-only";
}
