import { constants } from "node:fs";
import {
  copyFile,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  rm,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MAX_SHOWN_BYTES } from "../changes/find-large-files.ts";
import type { GitFolders } from "./find-git-folder.ts";
import type { GitConfig } from "./read-config.ts";
import { RepositoryError } from "./repository-error.ts";

// Invariants
//   G1. Git never reads the repository's configuration. It works on a git folder of ours, whose objects and references
//       are the repository's own, and whose configuration has only the settings below.
//   G2. Git never writes to the repository: `git diff` refreshes the index, of which it gets a copy.
//   G3. A setting is copied from the repository only if its value is one of a closed set that says how files are stored.
//
// So a setting that runs a program has no effect, known or unknown to us: filters, textconv, fsmonitor, external diffs,
// aliases, pagers, signers, credential helpers, includes. What is not there cannot be forgotten.

/** Parts of the repository that git may read, where they exist. */
const SHARED_PARTS = ["refs", "packed-refs", "reftable", "shallow", "logs"] as const;

/** How the repository's files are stored. Every other setting is ignored. */
const COPIED_SETTINGS: Readonly<Record<string, RegExp>> = {
  "core.filemode": /^(true|false)$/i,
  "core.symlinks": /^(true|false)$/i,
  "core.ignorecase": /^(true|false)$/i,
  "core.precomposeunicode": /^(true|false)$/i,
  "core.autocrlf": /^(true|false|input)$/i,
  "core.eol": /^(lf|crlf|native)$/i,
  "extensions.objectformat": /^(sha1|sha256)$/i,
  "extensions.refstorage": /^(files|reftable)$/i,
};

const OWN_SETTINGS = [
  ["core.repositoryformatversion", "1"],
  ["core.bare", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.untrackedCache", "false"],
  ["core.attributesFile", "/dev/null"],
  ["core.excludesFile", "/dev/null"],
  ["core.bigFileThreshold", `${MAX_SHOWN_BYTES}`],
  ["core.quotePath", "false"],
  ["core.safecrlf", "false"],
  ["core.pager", "cat"],
  ["protocol.allow", "never"],
  ["submodule.recurse", "false"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["log.showSignature", "false"],
  ["i18n.logOutputEncoding", "UTF-8"],
] as const;

const MAX_HEAD_BYTES = 4 * 1024;

/**
 * Creates the git folder that git works on. The caller removes it.
 *
 * @param index - The file of the index, of which it gets a copy.
 */
export async function createIsolatedGitFolder(
  { gitFolder, commonFolder }: GitFolders,
  config: GitConfig,
  index: string,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-git-"));
  try {
    await writeFile(join(folder, "HEAD"), await readHead(join(gitFolder, "HEAD")));
    await writeFile(join(folder, "config"), formatConfig(config));
    await mkdir(join(folder, "info"));
    await copyIndex(index, join(folder, "index"));
    const shared = SHARED_PARTS.map((name) => [join(commonFolder, name), join(folder, name)] as const);
    const exclude = [join(commonFolder, "info", "exclude"), join(folder, "info", "exclude")] as const;
    const parts = (await readdir(gitFolder)).filter((name) => name.startsWith("sharedindex."));
    const ofIndex = parts.map((name) => [join(gitFolder, name), join(folder, name)] as const);
    for (const [from, to] of [...shared, exclude, ...ofIndex]) {
      if ((await lstat(from).catch(() => undefined))?.isSymbolicLink() === false) await symlink(from, to);
    }
    return folder;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Copies the index with its time, rounded down: git reads a file again that is as new as the index, since it may have
 * changed after it was added. Without an index nothing is staged.
 */
async function copyIndex(from: string, to: string): Promise<void> {
  const stats = await lstat(from).catch(() => undefined);
  if (stats === undefined) return;
  if (!stats.isFile()) throw new RepositoryError("unsafe", `${from} is no regular file`);
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  const mtime = Math.floor(stats.mtimeMs) / 1000;
  await utimes(to, mtime, mtime);
}

/** Reads where HEAD is. A HEAD that is a link, or names anything but a branch or a commit, is refused. */
async function readHead(file: string): Promise<string> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (cause: unknown) => {
      throw new RepositoryError("not-a-repository", `${file} is no regular file that can be read`, { cause });
    },
  );
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_HEAD_BYTES), 0, MAX_HEAD_BYTES, 0);
    const head = buffer.subarray(0, bytesRead).toString("utf8").trim();
    if (/^(ref: refs\/[^\0-\x20\x7f]+|[0-9a-f]{40}|[0-9a-f]{64})$/.test(head)) return `${head}\n`;
    throw new RepositoryError("not-a-repository", `${file} names neither a branch nor a commit`);
  } finally {
    await handle.close();
  }
}

function formatConfig(config: GitConfig): string {
  const version = Number(config.get("core.repositoryformatversion")?.at(-1) ?? "0");
  if (version > 1)
    throw new RepositoryError("unsupported", `The repository has format ${version}; Holdfast reads 0 and 1`);
  const copied = Object.entries(COPIED_SETTINGS).flatMap(([key, allowed]) => {
    const value = config.get(key)?.at(-1);
    return value !== undefined && allowed.test(value) ? [[key, value] as const] : [];
  });
  return [...OWN_SETTINGS, ...copied]
    .map(([key, value]) => {
      const dot = key.indexOf(".");
      return `[${key.slice(0, dot)}]\n\t${key.slice(dot + 1)} = ${value}\n`;
    })
    .join("");
}
