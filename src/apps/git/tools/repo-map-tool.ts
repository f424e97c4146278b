import { z } from "zod";
import type { ExecutableTool } from "../../../tools/tool.ts";
import { readChangeSet } from "../changes/read-change-set.ts";
import { buildMap } from "../map/build-map.ts";
import { formatMap } from "../map/format-map.ts";
import { defineGitTool, type GitToolOptions } from "./define-git-tool.ts";

const DEFAULT_TOKENS = 2_000;
const MAX_TOKENS = 12_000;

const Arguments = z.object({
  max_tokens: z
    .number()
    .int()
    .min(100)
    .max(MAX_TOKENS)
    .default(DEFAULT_TOKENS)
    .describe("The size of the map"),
  mentioned: z
    .array(z.string().max(500))
    .max(100)
    .default([])
    .describe("Paths of files, and names of functions or types, that the map should begin with"),
});

export function createRepoMapTool(options: GitToolOptions = {}): ExecutableTool {
  return defineGitTool(
    {
      name: "repo_map",
      label: "Map",
      description:
        "Shows a map of the source files: what they define and import, those first on which the others depend most. Changed files and mentioned names come first.",
      inputSchema: Arguments,
      summarise: ({ max_tokens }) => `${max_tokens} tokens`,
      answer: async (repository, { max_tokens, mentioned }) => {
        const changes = await Promise.all(
          (["staged", "unstaged"] as const).map(
            async (type) => await readChangeSet(repository, { type }, { withHunks: false }),
          ),
        );
        const changed = changes.flatMap(({ files }) => files.map(({ path }) => path));
        const { ranks, counts } = await buildMap(repository, new Set([...changed, ...mentioned]));
        const header = `${counts.files} source files, the most used first:\n`;
        const { text, entries, tokens } = formatMap(ranks, max_tokens - Math.ceil(header.length / 3));
        return { text: `${header}${text}`, details: { ...counts, tokens, entries } };
      },
    },
    options,
  );
}
