import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { signalGroup, waitUntilGone } from "../../../src/platform/process/process-group.ts";
import { findHiddenPaths } from "../../../src/platform/sandbox/find-hidden-paths.ts";
import { findProtectedPaths } from "../../../src/platform/sandbox/find-protected-paths.ts";
import type { ConnectionReport } from "../../../src/platform/sandbox/network-proxy.ts";
import { PROXY_PORT, startSandbox } from "../../../src/platform/sandbox/start-sandbox.ts";
import { parseNetworkRule } from "../../../src/platform/text/network-rule.ts";
import { describeIf, testIf } from "../../support/skipping.ts";
import { isThorough } from "../../support/test-depth.ts";
import { eventually } from "../../tools/processes.ts";
import { HOST, NO_SANDBOX } from "./host.ts";
import {
  CALL_PREFIX,
  createWorkspace,
  findNamespace,
  listMembers,
  runScript,
  startScript,
} from "./run-sandbox.ts";

const describeSandbox = describeIf(HOST.able, NO_SANDBOX);
const MODES = ["workspace", "strict"] as const;
const ran = (exitCode: number) => ({ type: "ran", exitCode });
const rules = (...texts: string[]) => texts.map((text) => parseNetworkRule(text)!);

describeSandbox("files", () => {
  test.each(MODES)("the workspace can be written in mode %s, and nothing else of the host", async (mode) => {
    const workspace = await createWorkspace();
    const outside = join(workspace.folder, "../outside");
    await writeFile(outside, "before");
    const { ending, output } = await runScript(
      `echo inside > file || exit 3
       echo changed 2>/dev/null > '${outside}'
       for place in /usr/x /etc/x /x /var/x /run/x /dev/x /home/x /sys/x '${workspace.holdfastHome}/x'; do
         { echo leak > "$place"; } 2>/dev/null && echo "wrote $place"
       done
       echo scratch > /tmp/x && echo scratch > "$HOME/x" && cat /tmp/x`,
      workspace,
      { mode, hiddenPaths: await findHiddenPaths("/tmp/no-home") },
    );
    expect([ending, output]).toEqual([ran(0), "scratch\n"]);
    expect(await readFile(join(workspace.folder, "file"), "utf8")).toBe("inside\n");
    expect(await readFile(outside, "utf8")).toBe("before");
  });

  test.each(MODES)("no secret of the system can be read in mode %s", async (mode) => {
    const workspace = await createWorkspace();
    await writeFile(join(workspace.holdfastHome, "transcript.db"), "secret");
    const { output } = await runScript(
      `cat /etc/shadow /etc/gshadow '${workspace.holdfastHome}/transcript.db' 2>/dev/null
       ls -A /root /home 2>/dev/null | grep -v :
       ls -A /run; env | sort`,
      workspace,
      { mode, hiddenPaths: await findHiddenPaths("/root") },
    );
    expect(
      output.split("\n").filter((line) => !/^(?:HOLDFAST_CALL|HOME|PATH|PWD|OLDPWD|SHLVL|_)=|^$/.test(line)),
    ).toEqual([]);
  });

  test("a read-only sandbox changes nothing", async () => {
    const workspace = await createWorkspace();
    await writeFile(join(workspace.folder, "file"), "before");
    const { output } = await runScript(
      "cat file; { echo x > file; } 2>&1; { echo x > new; } 2>&1",
      workspace,
      {
        isReadOnly: true,
      },
    );
    expect(output).toMatch(/^before.*file: Read-only file system\n.*new: Read-only file system\n$/s);
  });

  test("protected files cannot be changed, moved, replaced, or reached by another way", async () => {
    const workspace = await createWorkspace();
    const { folder } = workspace;
    await mkdir(join(folder, ".git/hooks"), { recursive: true });
    await writeFile(join(folder, ".git/config"), "[core]\n");
    await writeFile(join(folder, ".git/HEAD"), "ref\n");
    await writeFile(join(folder, ".mcp.json"), "{}");
    const { protectedPaths } = await findProtectedPaths(folder);
    const { output } = await runScript(
      `exec 2>/dev/null
       echo x > .git/hooks/pre-commit && echo hook
       echo x > .git/config && echo config
       rm -rf .git/hooks .mcp.json
       mv .git old && echo moved
       mv .git/hooks hooks && echo hooks moved
       ln .git/config link && echo linked
       ln -sfnT /tmp .git && echo replaced
       echo '{"a":1}' > new && mv -f new .mcp.json && echo replaced
       mkdir other && mv -T other .git && echo exchanged
       cd .git/.. && echo x > ./.git/hooks/y && echo other way
       echo change > .git/HEAD && cat .git/HEAD`,
      workspace,
      { protectedPaths },
    );
    expect(output).toBe("change\n");
    expect(readdirSync(join(folder, ".git")).sort()).toEqual(["HEAD", "config", "hooks"]);
    expect(readdirSync(join(folder, ".git/hooks"))).toEqual([]);
    expect(await readFile(join(folder, ".git/config"), "utf8")).toBe("[core]\n");
    expect(await readFile(join(folder, ".mcp.json"), "utf8")).toBe("{}");
  });

  test("a symbolic link of the workspace leads to what the sandbox contains, not to the host", async () => {
    const workspace = await createWorkspace();
    await writeFile(join(workspace.folder, "../outside"), "secret");
    await symlink("../outside", join(workspace.folder, "relative"));
    await symlink(join(workspace.holdfastHome), join(workspace.folder, "absolute"));
    await writeFile(join(workspace.holdfastHome, "key"), "secret");
    const { output } = await runScript(
      "cat relative absolute/key 2>/dev/null; echo x > absolute/new; true",
      workspace,
    );
    expect(output).not.toContain("secret");
    expect(readdirSync(workspace.holdfastHome)).toEqual(["key"]);
  });

  test.each(MODES)("no file system but the workspace takes more than its size in mode %s", async (mode) => {
    const { output } = await runScript(
      `for place in /tmp /dev/shm "$HOME" /dev / /run /home /var/tmp; do
         head -c 20000000 /dev/zero 2>/dev/null > "$place/fill" && echo "$place took it"
       done; stat -c %s /tmp/fill`,
      await createWorkspace(),
      { mode, hiddenPaths: await findHiddenPaths("/tmp/no-home") },
    );
    expect(output.split("\n")[0]).toMatch(/^[0-9]+$/);
    expect(Number(output)).toBeLessThanOrEqual(4 * 1024 * 1024);
  });
});

describeSandbox("processes", () => {
  test("the exit code and the signal of the command are reported as by a shell", async () => {
    const workspace = await createWorkspace();
    expect((await runScript("exit 7", workspace)).ending).toEqual(ran(7));
    expect((await runScript("kill -SEGV $$", workspace)).ending).toEqual(ran(139));
  });

  test("a command sees its own processes alone, has no descriptor of ours, and leads its own group", async () => {
    const { output } = await runScript(
      `ls /proc | grep -c '^[0-9]' ; ls /proc/self/fd | tr '\\n' ' '; tr '\\0' '\\n' < /proc/1/environ | cut -d= -f1 | sort | tr '\\n' ' '
       ps -o pid= -o pgid= -o sid= -p $$ 2>/dev/null | tr -s ' ' || true`,
      await createWorkspace(),
      { env: { PATH: "/usr/bin:/bin", HOLDFAST_CALL: "x", SECRET: "value" } },
    );
    const [count, ...rest] = output.split("\n");
    expect(Number(count)).toBeLessThanOrEqual(5);
    expect(rest[0]).toMatch(/^0 1 2 3 (?:HOLDFAST_CALL|OLDPWD|PWD|SHLVL|_| )*/);
    expect(rest[0]).not.toContain("SECRET");
    if (rest[1] !== undefined && rest[1] !== "") expect(rest[1].trim()).toMatch(/^(\d+) \1 \1$/);
  });

  test("arguments of bwrap that other users can read contain no variable", async () => {
    const sandbox = await startScript("echo ready; sleep 100", await createWorkspace(), {
      env: { PATH: "/usr/bin:/bin", TOKEN: "secret-value" },
    });
    sandbox.parentPipe.write("go\n");
    await eventually(sandbox.output, (text) => text.includes("ready"));
    const lines = readdirSync("/proc")
      .filter((name) => /^[0-9]+$/.test(name))
      .map((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, "utf8");
        } catch {
          return "";
        }
      });
    expect(lines.filter((line) => line.includes("secret-value"))).toEqual([]);
    sandbox.parentPipe.destroy();
    await sandbox.ended;
  });

  test("without the line on the pipe the command does not start", async () => {
    const workspace = await createWorkspace();
    const sandbox = await startScript("touch started", workspace);
    sandbox.parentPipe.destroy();
    expect(await sandbox.ended).toEqual({ type: "not-started" });
    expect(readdirSync(workspace.folder)).toEqual([]);
  });

  test("a sandbox that cannot be made is reported as such", async () => {
    const workspace = await createWorkspace();
    const { ending, output } = await runScript("echo never", workspace, { readable: ["/no/such/folder"] });
    expect(ending).toEqual({ type: "not-started" });
    expect(output).toMatch(/^bwrap: /);
  });

  test("the command has time to end after SIGTERM", async () => {
    const sandbox = await startScript(
      "trap 'echo cleaning; sleep 0.1; echo cleaned; exit 9' TERM; echo ready; while :; do sleep 0.01; done",
      await createWorkspace(),
    );
    sandbox.parentPipe.write("go\n");
    await eventually(sandbox.output, (text) => text.includes("ready"));
    sandbox.terminate();
    expect(await sandbox.ended).toEqual(ran(9));
    // The shell writes to its standard error that `sleep` was ended.
    expect(sandbox.output().replace("Terminated\n", "")).toBe("ready\ncleaning\ncleaned\n");
  });

  test.each([
    [
      "that leave the group and the session",
      "setsid sh -c 'setsid sleep 1000 & sleep 1000' & sleep 1000 & echo ready; wait",
    ],
    [
      "that ignore signals and signal everything",
      "trap '' TERM HUP INT; kill -TERM -1; kill -TERM 0; echo ready; sleep 1000",
    ],
    [
      "that try to stop the watcher",
      "(sleep 0.1; kill -STOP 0) & setsid sleep 1000 & kill -STOP 1; echo ready; sleep 1000",
    ],
    ["that are many", "for i in $(seq 100); do sleep 1000 & done; echo ready; sleep 1000"],
  ])("SIGKILL to the group ends processes %s, and then all are gone", async (_, script) => {
    const sandbox = await startScript(script, await createWorkspace());
    sandbox.parentPipe.write("go\n");
    await eventually(sandbox.output, (text) => text.includes("ready"));
    const namespace = findNamespace(sandbox.call);
    expect(listMembers(namespace).length).toBeGreaterThan(1);
    signalGroup(sandbox.pgid, "SIGKILL");
    await waitUntilGone(sandbox.pgid);
    // Without any wait: the group contains the first process, which the kernel lets end last.
    expect(listMembers(namespace)).toEqual([]);
    expect(await sandbox.ended).toEqual({ type: "killed" });
  });
});

describeSandbox("the network", () => {
  test("without rules there is none", async () => {
    const { server, port } = await listenOnLoopback();
    const { output } = await runScript(
      `for place in 127.0.0.1/${port} 127.0.0.1/${PROXY_PORT} 1.1.1.1/53 ${getHostAddress()}/${port}; do
         (exec 4<>/dev/tcp/$place) 2>/dev/null && echo "reached $place"
       done; cat /proc/net/dev | tail -n +3 | cut -d: -f1`,
      await createWorkspace(),
    );
    expect(output.trim()).toBe("lo");
    server.close();
  });

  const ask = (authority: string) =>
    `exec 4<>/dev/tcp/127.0.0.1/${PROXY_PORT} && printf 'CONNECT ${authority} HTTP/1.1\\r\\n\\r\\n' >&4 && head -c 60 <&4`;

  test("an allowed host is reached through the proxy, another is not, and both are reported", async () => {
    const { server, port } = await listenOnLoopback("hello from the host\n");
    const reports: ConnectionReport[] = [];
    const { ending, output } = await runScript(
      `cat /run/holdfast-proxy; echo $HTTPS_PROXY; (${ask(`allowed.test:${port}`)}); (${ask("other.test:443")}); exec 4>&-; true`,
      await createWorkspace(),
      {
        network: {
          rules: rules(`allowed.test:${port}`, `127.0.0.1:${port}`),
          onConnection: (report) => reports.push(report),
          resolve: async () => ["127.0.0.1"],
        },
      },
    );
    expect(ending).toEqual(ran(0));
    expect(output).toContain(`127.0.0.1:${PROXY_PORT}\nhttp://127.0.0.1:${PROXY_PORT}\n`);
    expect(output).toContain("HTTP/1.1 200 Connection Established\r\n\r\nhello from the host");
    expect(output).toContain("HTTP/1.1 403 Forbidden");
    expect(reports.map(({ host, decision }) => [host, decision]).sort()).toEqual([
      ["allowed.test", "allowed"],
      ["other.test", "refused"],
    ]);
    server.close();
  });

  test("a command that starts at once finds the proxy listening", async () => {
    const workspace = await createWorkspace();
    for (let round = 0; round < 5; round += 1) {
      const { output } = await runScript(ask("other.test:443"), workspace, {
        network: { rules: [], onConnection: () => {} },
      });
      expect(output).toContain("403 Forbidden");
    }
  });

  test("without nsenter, a sandbox with rules does not start, and says why", async () => {
    const { folder, holdfastHome } = await createWorkspace();
    if (!HOST.able) return;
    const sandbox = await startSandbox({
      plan: {
        mode: "strict",
        workspace: folder,
        cwd: folder,
        isReadOnly: false,
        home: "/tmp/home",
        holdfastHome,
        readable: [],
        writable: [],
        env: {},
        protectedPaths: [],
        hiddenPaths: [],
        tmpfsBytes: 1_000_000,
      },
      programs: { ...HOST.programs, nsenter: undefined },
      command: "touch",
      args: ["started"],
      stdin: "ignore",
      network: { rules: [], onConnection: () => {} },
    });
    sandbox.parentPipe.write("go\n");
    expect(await sandbox.ended).toEqual({ type: "not-started", problem: expect.stringContaining("nsenter") });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describeSandbox("system calls", () => {
  const perlTest = testIf(
    existsSync("/usr/bin/perl") && process.arch === "x64",
    "perl on x64 makes the calls",
  );

  perlTest("are refused, in a real sandbox as in the filter's test", async () => {
    const { output } = await runScript(
      `exec perl -e '
        use Socket;
        sub try { my ($name, $number, @args) = @_; $! = 0; my $result = syscall($number, @args); print "$name ", $result < 0 ? $!+0 : "done", "\n" }
        try("unix", 41, 1, 1, 0); try("vsock", 41, 40, 1, 0); try("inet", 41, 2, 1, 0);
        print "pair ", socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0) ? "done" : $!+0, "\n";
        my $buffer = chr(0) x 256;
        try("io_uring", 425, 8, $buffer); try("ptrace", 101, 0, 0, 0, 0); try("mount", 165, $buffer, $buffer, $buffer, 0, 0);
        try("keyctl", 250, 0, 0); try("bpf", 321, 0, $buffer, 64); try("userfaultfd", 323, 0); try("perf", 298, $buffer, 0, -1, -1, 0);
        try("setns", 308, 0, 0); try("unshare user", 272, 0x10000000); try("clone user", 56, 0x10000011, 0, 0, 0, 0);
        try("clone3", 435, $buffer, 64); try("x32", 0x40000000 + 39); try("handle", 304, -1, $buffer, 0);
      '`,
      await createWorkspace(),
    );
    const results = Object.fromEntries(
      output
        .trim()
        .split("\n")
        .map((line) => line.split(/ (?=\S+$)/)),
    );
    expect(results).toEqual({
      ...{ unix: "1", vsock: "1", inet: "done", pair: "done" },
      ...{
        io_uring: "1",
        ptrace: "1",
        mount: "1",
        keyctl: "1",
        bpf: "1",
        userfaultfd: "1",
        perf: "1",
        setns: "1",
      },
      ...{ "unshare user": "1", "clone user": "1", clone3: "38", x32: "38", handle: "1" },
    });
  });

  test("a process has no capability and gets none", async () => {
    const { output } = await runScript(
      "grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status",
      await createWorkspace(),
    );
    const lines = Object.fromEntries(
      output
        .trim()
        .split("\n")
        .map((line) => line.split(":\t")),
    );
    expect(lines).toEqual({
      CapInh: "0000000000000000",
      CapPrm: "0000000000000000",
      CapEff: "0000000000000000",
      CapBnd: "0000000000000000",
      CapAmb: "0000000000000000",
      NoNewPrivs: "1",
      Seccomp: "2",
    });
  });
});

const AT_ONCE = 4;

describeSandbox("many sandboxes", () => {
  test("leave no mount, descriptor or process behind, some of them at once", async () => {
    const workspace = await createWorkspace();
    const run = async (index: number) => {
      const { ending, output } = await runScript("sleep 1000 & echo done", workspace, {
        mode: MODES[index % 2]!,
        ...(index % 10 === 0 && { network: { rules: [], onConnection: () => {} } }),
      });
      expect([ending, output]).toEqual([ran(0), "done\n"]);
    };
    const runTogether = (from: number) =>
      Promise.all(Array.from({ length: AT_ONCE }, (_, nth) => run(from + nth)));
    await runTogether(0);
    const count = () => ({
      mounts: readFileSync("/proc/self/mountinfo", "utf8").split("\n").length,
      children: readFileSync(`/proc/self/task/${process.pid}/children`, "latin1").split(" ").length,
      processes: countMarked(),
    });
    // Processes that a run has left die while the next one starts.
    await eventually(countMarked, (left) => left === 0);
    const before = count();
    const descriptors = readdirSync("/proc/self/fd").length;
    for (let index = 0; index < (isThorough ? 1000 : 100); index += AT_ONCE) await runTogether(index);
    await eventually(count, ({ mounts, children, processes }) => {
      // The shell of the next sandbox waits; it may have been there before.
      return mounts === before.mounts && children <= before.children + 1 && processes === 0;
    });
    await eventually(
      () => readdirSync("/proc/self/fd").length,
      (open) => open <= descriptors + 1,
    );
  });
});

/** Counts the processes of this process's calls. */
function countMarked(): number {
  return readdirSync("/proc").filter((pid) => {
    if (!/^[0-9]+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/environ`, "utf8").includes(`HOLDFAST_CALL=${CALL_PREFIX}`);
    } catch {
      return false;
    }
  }).length;
}

async function listenOnLoopback(
  text = "",
): Promise<{ server: ReturnType<typeof createServer>; port: number }> {
  const server = createServer((socket) => socket.end(text));
  onTestFinished(() => void server.close());
  await once(server.listen(0), "listening");
  return { server, port: (server.address() as AddressInfo).port };
}

function getHostAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return addresses.find(({ internal, family }) => !internal && family === "IPv4")?.address ?? "127.0.0.2";
}
