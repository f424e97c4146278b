import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { signalGroup } from "../../../src/platform/process/process-group.ts";
import {
  CONTROLLERS,
  createControlGroup,
  findGroupPlaces,
} from "../../../src/platform/sandbox/control-group.ts";
import { DEFAULT_BOUNDS } from "../../../src/platform/sandbox/sandbox-bounds.ts";
import { describeIf } from "../../support/skipping.ts";
import { eventually } from "../../tools/processes.ts";
import { HOST } from "./host.ts";
import { createWorkspace, runScript, startScript } from "./run-sandbox.ts";

const none = () => "";

describe("the place of control groups", () => {
  test("of version 1 is the worker's own group of each controller", () => {
    const mounts = [
      "30 29 0:26 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct",
      "31 29 0:27 / /sys/fs/cgroup/pids rw,relatime shared:9 - cgroup cgroup rw,pids",
      "32 29 0:28 /docker/abc /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory",
    ].join("\n");
    const own = "5:cpu,cpuacct:/\n4:memory:/docker/abc\n3:pids:/system/worker\n0::/\n";
    expect(findGroupPlaces(mounts, own, none)).toEqual([
      {
        version: 1,
        controllers: ["cpu"],
        folder: "/sys/fs/cgroup/cpu,cpuacct",
        own: "/sys/fs/cgroup/cpu,cpuacct",
      },
      {
        version: 1,
        controllers: ["pids"],
        folder: "/sys/fs/cgroup/pids/system/worker",
        own: "/sys/fs/cgroup/pids/system/worker",
      },
      { version: 1, controllers: ["memory"], folder: "/sys/fs/cgroup/memory", own: "/sys/fs/cgroup/memory" },
    ]);
  });

  test("of version 2 is the group around the worker's own, with the controllers that it hands down", () => {
    const slice = "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice";
    const places = findGroupPlaces(
      "35 25 0:29 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate",
      "0::/user.slice/user-1000.slice/user@1000.service/app.slice/worker.service\n",
      (folder) => (folder === slice ? "memory pids\n" : "cpu io memory pids\n"),
    );
    expect(places).toEqual([
      { version: 2, controllers: ["pids", "memory"], folder: slice, own: `${slice}/worker.service` },
    ]);
  });

  test("does not exist where nothing is handed down, nothing is mounted, or a path leads out of the mount", () => {
    const mount = "35 25 0:29 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
    expect(findGroupPlaces(mount, "0::/\n", none)).toEqual([]);
    expect(findGroupPlaces("", "0::/\n3:pids:/\n", none)).toEqual([]);
    const other = "31 29 0:27 /docker/abc /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids";
    expect(findGroupPlaces(other, "3:pids:/docker/abcdef\n", none)).toEqual([]);
  });
});

test("without a place there is no group, and removing it does nothing", async () => {
  const group = await createControlGroup(1, [
    { version: 2, controllers: CONTROLLERS, folder: "/proc/no-such", own: "/proc/no-such" },
  ]);
  expect([group.limit(DEFAULT_BOUNDS), group.hasRunOut()]).toEqual([[], false]);
  await group.remove();
});

const canMakeGroups = HOST.able && HOST.controllers.length > 0;

describeIf(canMakeGroups, "this user may make no control group")("the control group of a sandbox", () => {
  test("contains the command, and is removed with it", async () => {
    const sandbox = await startScript("echo ready; sleep 100", await createWorkspace());
    sandbox.parentPipe.write("go\n");
    await eventually(sandbox.output, (text) => text.includes("ready"));
    const [name = "none"] =
      /holdfast-\d+-\d+/.exec(readFileSync(`/proc/${sandbox.pgid}/cgroup`, "latin1")) ?? [];
    expect(listGroups()).toContain(name);
    signalGroup(sandbox.pgid, "SIGKILL");
    await sandbox.ended;
    sandbox.parentPipe.destroy();
    await eventually(listGroups, (left) => !left.includes(name));
  });

  test("of the shell that waits for the next command is the only one that remains", async () => {
    const isOurs = (name: string) => name.startsWith(`holdfast-${process.pid}-`);
    const countGroups = () => new Set(listGroups().filter(isOurs)).size;
    const workspace = await createWorkspace();
    await runScript("true", workspace);
    const before = countGroups();
    for (let call = 0; call < 3; call += 1) {
      expect((await runScript("true", workspace)).ending).toEqual({ type: "ran", exitCode: 0 });
    }
    await eventually(countGroups, (count) => count <= before);
  });
});

function listGroups(): readonly string[] {
  return ["pids", "cpu", "memory", "unified", "."].flatMap((name) => listFolder(`/sys/fs/cgroup/${name}`));
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
