import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type RepositoryPlan = {
  readonly commits: number;
  /** The files of the last commit, all of which it changes. */
  readonly lastFiles: number;
  readonly seed: number;
};

/** Builds a repository by `git fast-import`: changed, added, renamed, deleted and binary files, and merges. */
export async function buildRepository(
  plan: RepositoryPlan,
): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "holdfast-history-")));
  const git = (...args: readonly string[]) => execFileSync("git", [...args], { cwd: folder, stdio: "pipe" });
  git("init", "--quiet", "--initial-branch=main");
  const stream = join(folder, ".git", "stream");
  const file = createWriteStream(stream);
  for (const part of writeStream(plan)) if (!file.write(part)) await once(file, "drain");
  file.end();
  await once(file, "close");
  execFileSync("/bin/sh", ["-c", "git fast-import --quiet < .git/stream"], { cwd: folder, stdio: "pipe" });
  await rm(stream);
  git("reset", "--quiet", "--hard", "main");
  return { folder, remove: async () => await rm(folder, { recursive: true, force: true }) };
}

/** A generator of numbers that is the same for the same seed. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (state >> 8) % below;
  };
}

function* writeStream({ commits, lastFiles, seed }: RepositoryPlan): Generator<string | Buffer> {
  const random = createRandom(seed);
  const files = new Map<string, string>();
  let side: number | undefined;
  for (let nth = 1; nth <= commits; nth += 1) {
    yield openCommit("main", nth, `Change number ${nth}\n\nThe body of ${nth}.\n`);
    if (side !== undefined && random(4) === 0) {
      yield `merge :${side}\n`;
      side = undefined;
    }
    yield* changeFiles(files, random, nth);
    if (side === undefined && nth % 50 === 0 && nth < commits) {
      side = commits + nth;
      yield openCommit("side", side, `Beside ${nth}\n`, `from :${nth}\n`);
      yield put(`side/${nth}.txt`, `beside ${nth}\n`);
    }
  }
  yield openCommit("main", 3 * commits, "Change very much\n");
  for (let at = 0; at < lastFiles; at += 1) {
    yield put(`bulk/part-${at % 40}/file-${at}.ts`, `export const value${at} = ${at};\n`);
  }
}

function* changeFiles(
  files: Map<string, string>,
  random: (below: number) => number,
  nth: number,
): Generator<string | Buffer> {
  const paths = [...files.keys()];
  const path = paths[random(Math.max(1, paths.length))];
  const kind = random(20);
  if (path === undefined || paths.length < 5 || kind < 5) {
    const name = `src/module-${random(9)}/file ${nth}.ts`;
    const text = Array.from({ length: 20 + random(40) }, (_, line) => `line ${line} of ${nth}`).join("\n");
    files.set(name, `${text}\n`);
    yield put(name, `${text}\n`);
  } else if (kind === 5) {
    files.delete(path);
    yield `D ${path}\n`;
  } else if (kind === 6) {
    const name = path.replace(/[^/]+$/, `renamed ${nth}.ts`);
    files.set(name, files.get(path) ?? "");
    files.delete(path);
    yield `R "${path}" "${name}"\n`;
  } else if (kind === 7) {
    yield put(`assets/${nth}.bin`, Buffer.from(Array.from({ length: 300 }, () => random(256))));
  } else {
    const lines = (files.get(path) ?? "").split("\n");
    for (let edits = 0; edits <= random(3); edits += 1) lines[random(lines.length)] = `edited by ${nth}`;
    files.set(path, lines.join("\n"));
    yield put(path, lines.join("\n"));
  }
}

function openCommit(branch: string, mark: number, message: string, from = ""): string {
  const who = `Person ${mark % 7} <p${mark % 7}@example.com> ${1_600_000_000 + mark * 60} +0100`;
  const size = Buffer.byteLength(message);
  return `commit refs/heads/${branch}\nmark :${mark}\nauthor ${who}\ncommitter ${who}\ndata ${size}\n${message}\n${from}`;
}

function put(path: string, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([
    Buffer.from(`M 100644 inline ${path}\ndata ${bytes.length}\n`),
    bytes,
    Buffer.from("\n"),
  ]);
}
