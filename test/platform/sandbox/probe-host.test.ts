import { chmod, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { probeHost } from "../../../src/platform/sandbox/probe-host.ts";
import { NO_PROC, testIf } from "../../support/skipping.ts";
import { createTemporaryFolder } from "../../tools/tool-context.ts";
import { HOST } from "./host.ts";

const isLinux = process.platform === "linux";

/** A folder with programs of these names, which do what the scripts say. */
async function createPrograms(scripts: Readonly<Record<string, string>>): Promise<string> {
  const folder = await createTemporaryFolder();
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(folder, name), 0o755);
  }
  // It closes what the test's process may have inherited.
  await symlink("/bin/bash", join(folder, "bash"));
  return folder;
}

const failWith = (message: string) =>
  createPrograms({ bwrap: `echo "bwrap: ${message}" >&2; exit 1`, setsid: "exit 1", prlimit: "exit 1" });

const settings = (values: Readonly<Record<string, string>>) => async (path: string) =>
  Object.entries(values).find(([name]) => path.endsWith(name))?.[1];

testIf(isLinux, NO_PROC)("this host's answer has a remedy, or the programs", () => {
  if (HOST.able) expect(HOST.programs.bwrap).toMatch(/^\/.*\/bwrap$/);
  else expect(HOST.remedy).not.toBe("");
  if (!HOST.able) console.warn(`${HOST.obstacle}: ${HOST.answer}\n${HOST.remedy}`);
});

describe("a host that cannot start a sandbox", () => {
  const linuxTest = testIf(isLinux, NO_PROC);

  linuxTest.each([
    [
      "loopback: Failed RTM_NEWADDR: Operation not permitted",
      { apparmor_restrict_unprivileged_userns: "1" },
      "apparmor",
      /profile bwrap \/.*\/bwrap flags=\(unconfined\) \{\n {2}userns,/,
    ],
    ["setting up uid map: Permission denied", {}, "apparmor", /apparmor_parser -r/],
    [
      "No permissions to create a new namespace, likely because the kernel does not allow non-privileged user namespaces.",
      { unprivileged_userns_clone: "0" },
      "userns-disabled",
      /sysctl -w kernel\.unprivileged_userns_clone=1/,
    ],
    [
      "Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
      { max_user_namespaces: "0" },
      "userns-limit",
      /sysctl -w user\.max_user_namespaces=/,
    ],
    ["Creating new namespace failed: No space left on device", {}, "userns-limit", /max_user_namespaces/],
    ["Failed to make / slave: Permission denied", {}, "container", /--security-opt/],
    [
      "No permissions to create new namespace",
      { unprivileged_userns_clone: "1" },
      "container",
      /--security-opt/,
    ],
    [
      "No permissions to create new namespace",
      { apparmor_restrict_unprivileged_userns: "1" },
      "apparmor",
      /userns,/,
    ],
    [
      "Can't mount proc on /newroot/proc: Operation not permitted",
      {},
      "masked-proc",
      /systempaths=unconfined/,
    ],
    ["Unknown option --size", {}, "too-old", /bubblewrap 0\.8/],
    ["Something else", {}, "other", /by hand/],
  ] as const)("because bwrap says: %s", async (message, values, obstacle, remedy) => {
    const path = await failWith(message);
    const probe = await probeHost({ path, readSetting: settings(values) });
    expect(probe).toMatchObject({ able: false, obstacle });
    if (probe.able) return;
    expect(probe.answer).toContain(message);
    expect(probe.attempt).toContain(join(path, "bwrap"));
    expect(probe.remedy).toMatch(remedy);
  });

  linuxTest("because bubblewrap is not installed", async () => {
    expect(await probeHost({ path: await createTemporaryFolder() })).toMatchObject({
      able: false,
      obstacle: "absent",
      attempt: expect.stringContaining("looked for bwrap in"),
      remedy: expect.stringContaining("apt-get install bubblewrap"),
    });
  });

  linuxTest("because prlimit, which bounds each command, is not installed", async () => {
    const path = await createPrograms({ bwrap: "exit 0", setsid: "exit 0" });
    expect(await probeHost({ path })).toMatchObject({
      able: false,
      obstacle: "absent",
      attempt: expect.stringContaining("looked for prlimit in"),
      remedy: expect.stringContaining("apt-get install util-linux"),
    });
  });

  linuxTest("because bwrap does not answer", async () => {
    const path = await createPrograms({ bwrap: "exec sleep 100", setsid: "exit 1", prlimit: "exit 1" });
    expect(await probeHost({ path, timeoutMs: 100 })).toMatchObject({ able: false, obstacle: "timeout" });
  });

  linuxTest("because a program only pretends to be bwrap", async () => {
    // It runs the command as it is: without the report that only a sandbox gives, that is no success.
    const path = await createPrograms({ bwrap: "exit 0", setsid: "exit 0", prlimit: "exit 0" });
    expect(await probeHost({ path })).toMatchObject({ able: false, obstacle: "other" });
  });

  linuxTest("because only one of the modes works", async () => {
    if (!HOST.able) return;
    const path = await createPrograms({
      bwrap: `args=$(cat <&4 | tr '\\0' '\\n'); case "$args" in *ro-bind-try*) echo "bwrap: no" >&2; exit 1;; esac
printf '%s' "$args" | tr '\\n' '\\0' | exec ${HOST.programs.bwrap} --args 0 -- ${HOST.programs.setsid} true </dev/stdin`,
    });
    await symlink(HOST.programs.setsid, join(path, "setsid"));
    await symlink(HOST.programs.prlimit, join(path, "prlimit"));
    const probe = await probeHost({ path });
    expect(probe).toMatchObject({ able: false, attempt: expect.stringContaining("mode strict") });
  });
});
