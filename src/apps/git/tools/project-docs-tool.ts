import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { ExecutableTool } from "../../../tools/tool.ts";
import { openWorktreeFile } from "../repository/open-worktree-file.ts";
import { toVisibleName } from "../text/visible-text.ts";
import { defineGitTool, type GitToolOptions } from "./define-git-tool.ts";

/** The names of each type, without ending and in lower case, in the order in which they are read. */
const NAMES = {
  readme: ["readme"],
  agents: ["agents", "claude", "gemini", "copilot-instructions"],
  contributing: ["contributing"],
  changelog: ["changelog", "changes", "history"],
  license: ["license", "licence", "copying"],
  codeofconduct: ["code_of_conduct"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

type DocType = keyof typeof NAMES;

const ALL = Object.keys(NAMES) as DocType[];
const FOLDERS = ["", ".github", "docs"];
const MAX_CHARS = 20_000;
/** A snapshot has the beginning of the README and of the instructions. */
const SNAPSHOT_CHARS = { readme: 3_000, agents: 6_000 } as const;
/** Documents of one type, such as translations, beyond these are only named. */
const MAX_PER_TYPE = 3;

const Arguments = z.object({
  doc_type: z
    .enum(["context", "all", ...ALL] as ["context", "all", ...DocType[]])
    .default("context")
    .describe(
      "context: a short snapshot of the README and of the instructions for agents. all: every document",
    ),
});

export function createProjectDocsTool(options: GitToolOptions = {}): ExecutableTool {
  return defineGitTool(
    {
      name: "project_docs",
      label: "Project documents",
      description:
        "Reads the documents of the project: README, AGENTS.md and CLAUDE.md, CONTRIBUTING and the like, or a short snapshot of the first two.",
      inputSchema: Arguments,
      summarise: ({ doc_type }) => doc_type,
      answer: async ({ top }, { doc_type }) => {
        const isSnapshot = doc_type === "context";
        const types = isSnapshot ? (["readme", "agents"] as const) : doc_type === "all" ? ALL : [doc_type];
        const perDocument = Math.floor(MAX_CHARS / types.length);
        const parts: string[] = [];
        const documents: { path: string; type: DocType; isCut: boolean; text: string }[] = [];
        for (const type of types) {
          const paths = await findDocuments(top, type);
          const limit = isSnapshot ? SNAPSHOT_CHARS[type as keyof typeof SNAPSHOT_CHARS] : perDocument;
          for (const path of paths.slice(0, MAX_PER_TYPE)) {
            const text = await readStart(top, path, limit + 1);
            if (text === undefined) continue;
            const isCut = text.length > limit;
            documents.push({ path, type, isCut, text: text.slice(0, limit) });
            const cut = isCut ? `\n[... cut: read the rest with file_read]` : "";
            parts.push(`=== ${toVisibleName(path)} ===\n${text.slice(0, limit)}${cut}`);
          }
          const rest = paths.slice(MAX_PER_TYPE).map(toVisibleName);
          if (rest.length > 0) parts.push(`[Not shown: ${rest.slice(0, 20).join(", ")}]`);
        }
        return {
          text:
            parts.length === 0 ? `The repository has no such document (${doc_type}).` : parts.join("\n\n"),
          details: { documents },
        };
      },
    },
    options,
  );
}

async function findDocuments(top: string, type: DocType): Promise<readonly string[]> {
  const names: readonly string[] = NAMES[type];
  const found: { path: string; rank: number }[] = [];
  for (const folder of FOLDERS) {
    const entries = await readdir(join(top, folder), { withFileTypes: true }).catch(() => []);
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const rank = names.indexOf(entry.name.toLowerCase().replace(/\.[a-z]+$/, ""));
      if (rank !== -1 && !entry.isDirectory()) found.push({ path: join(folder, entry.name), rank });
    }
  }
  return found.toSorted((a, b) => a.rank - b.rank).map(({ path }) => path);
}

/** Reads the beginning of a document; undefined if it is no file of the work tree, such as a link that leads out. */
async function readStart(top: string, path: string, chars: number): Promise<string | undefined> {
  const opened = await openWorktreeFile(top, path).catch(() => undefined);
  if (opened === undefined) return undefined;
  try {
    const buffer = Buffer.alloc(4 * chars);
    const { bytesRead } = await opened.handle.read(buffer, 0, buffer.length, 0);
    return buffer.subarray(0, bytesRead).toString("utf8").slice(0, chars);
  } finally {
    await opened.handle.close();
  }
}
