import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import type { Holdfast } from "../../src/client/index.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { connectClient, runCommandLine } from "./support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

let stage: TestEnvironment;
let holdfast: Holdfast;
beforeAll(async () => {
  stage = await openTestEnvironment();
  holdfast = await connectClient(stage);
});
afterAll(async () => {
  await holdfast.close();
  await stage.close();
});

const write = (path: string, content: string) => ({
  toolCalls: [{ name: "write_file", arguments: { path, content } }],
});

function repository(name: string): string {
  const folder = join(stage.home, name);
  mkdirSync(folder);
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", folder, "-c", "user.name=t", "-c", "user.email=t@t", ...args]);
  git("init", "--quiet", "--initial-branch=trunk");
  writeFileSync(join(folder, "notes.txt"), "as it was\n");
  git("add", "--all");
  git("commit", "--quiet", "-m", "first");
  return folder;
}

const refs = (folder: string) =>
  execFileSync("git", ["-C", folder, "for-each-ref", "--format=%(refname) %(objectname)"], {
    encoding: "utf8",
  })
    .trim()
    .split("\n");

test("files are stored with each turn, and a fork restores them as they were then", async () => {
  const folder = repository("kept");
  const index = readFileSync(join(folder, ".git", "index"));
  const session = stage.session({
    replies: [write("notes.txt", "one\n"), write("more.txt", "two\n"), { text: "Done." }, { text: "On." }],
    agent: { tools: ["write_file", "read_file"], workspace: folder, snapshots: "git" },
  });
  await session.run("Write");
  const kept = await stage.transcript.readSnapshots(session.id, { branch: "main", position: 99 });
  expect(kept.map(({ at }) => at.position)).toEqual([5, 3, 1]);
  expect(new Set(kept.map(({ commit }) => commit)).size).toBe(3);
  expect(readFileSync(join(folder, ".git", "index")).equals(index)).toBe(true);
  expect(refs(folder).filter((ref) => !ref.startsWith("refs/holdfast/"))).toHaveLength(1);
  expect(refs(folder)).toHaveLength(4);

  const other = `${session.id}-other`;
  const { code, out, err } = await runCommandLine(
    stage,
    ...[
      "fork",
      session.id,
      "--after-turn",
      "0",
      "--as",
      other,
      "--restore-workspace",
      join(stage.home, "again"),
      "--json",
    ],
  );
  expect([code, err]).toEqual([0, ""]);
  const again = join(stage.home, "again");
  expect(JSON.parse(out)).toMatchObject({
    session: other,
    from: { position: 3 },
    restored: { workspace: again, position: 3, commit: kept[1]?.commit },
  });
  expect(readFileSync(join(again, "notes.txt"), "utf8")).toBe("one\n");
  expect(existsSync(join(again, "more.txt"))).toBe(false);
  expect(readFileSync(join(folder, "more.txt"), "utf8")).toBe("two\n");
  await (await holdfast.session(other).continue()).result();
  expect(readFileSync(join(again, "more.txt"), "utf8")).toBe("two\n");

  const back = await runCommandLine(stage, "fork", session.id, "--at", "1", "--restore-in-place");
  expect(back.code).toBe(0);
  expect(back.err).toContain(`files as they were at #1: ${folder}`);
  expect(readFileSync(join(folder, "notes.txt"), "utf8")).toBe("as it was\n");
  expect(existsSync(join(folder, "more.txt"))).toBe(false);
  writeFileSync(join(folder, "notes.txt"), "by hand\n");
  const dirty = await runCommandLine(stage, "fork", session.id, "--at", "3", "--restore-in-place");
  expect(dirty.err).toContain("neither committed nor part of a snapshot");
  expect(readFileSync(join(folder, "notes.txt"), "utf8")).toBe("by hand\n");
});

test("a run whose workspace cannot be stored continues, and the record gives the reason", async () => {
  const folder = join(stage.home, "no-repository");
  mkdirSync(folder);
  const session = stage.session({
    replies: [write("a.txt", "a\n"), { text: "Done." }],
    agent: { tools: ["write_file"], workspace: folder, snapshots: "git" },
  });
  expect((await session.run("Write")).outcome.type).toBe("answered");
  const [newest] = await stage.transcript.readSnapshots(session.id, { branch: "main", position: 99 });
  expect(newest).toMatchObject({ problem: expect.stringContaining("not in a git repository") });
  const { code, err } = await runCommandLine(stage, "fork", session.id, "--restore-workspace");
  expect(code).not.toBe(0);
  expect(err).toMatch(/cannot be restored: the snapshot at #3 was not stored: .* is not in a git repository/);
  expect(await stage.transcript.readBranches(session.id)).toHaveLength(1);
  const none = stage.session({ replies: [{ text: "Hi." }] });
  await none.run("Hello");
  expect((await runCommandLine(stage, "fork", none.id, "--restore-workspace")).err).toContain(
    'snapshots: "git"',
  );
});

thoroughTest("a loop that ends after its tools has its files stored too", async () => {
  const folder = repository("limited");
  const session = stage.session({
    replies: [write("notes.txt", "one\n")],
    agent: { tools: ["write_file"], workspace: folder, snapshots: "git", limits: { maxTurns: 1 } },
  });
  expect((await session.run("Write")).outcome.type).toBe("limit-reached");
  const [newest] = await stage.transcript.readSnapshots(session.id, { branch: "main", position: 99 });
  const text = execFileSync("git", ["-C", folder, "show", `${newest?.commit}:notes.txt`], {
    encoding: "utf8",
  });
  expect(text).toBe("one\n");
});

thoroughTest("a snapshot at the end of a loop may take some seconds", async () => {
  const folder = repository("slow");
  const programs = join(stage.home, "programs");
  mkdirSync(programs);
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const git = join(programs, "git");
  writeFileSync(git, `#!/bin/sh\ncase " $* " in *" commit-tree "*) sleep 3;; esac\nexec ${real} "$@"\n`);
  chmodSync(git, 0o755);
  vi.stubEnv("PATH", `${programs}:${process.env["PATH"]}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const session = stage.session({
    replies: [write("notes.txt", "one\n")],
    agent: { tools: ["write_file"], workspace: folder, snapshots: "git", limits: { maxTurns: 1 } },
  });
  expect((await session.run("Write")).outcome.type).toBe("limit-reached");
  const [newest] = await stage.transcript.readSnapshots(session.id, { branch: "main", position: 99 });
  expect(newest).toMatchObject({ commit: expect.stringMatching(/^[0-9a-f]{40}/) });
});
