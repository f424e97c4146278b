import { createHash } from "node:crypto";
import { basename, isAbsolute, join, normalize, relative } from "node:path";
import { z } from "zod";
import { isTextFile } from "../../../core/view/attachment.ts";
import { findNearestName } from "../../../platform/text/nearest-name.ts";
import { buildFilePart } from "../../file-part.ts";
import { defineTool, type ExecutableTool } from "../../tool.ts";
import { type ToolContext, ToolError, type ToolOutput } from "../../tool-execution.ts";
import { throwIfCancelled } from "../../workspace/system-error.ts";
import { openFile, openRoot } from "../../workspace/workspace-access.ts";
import { decodeText, SKILL_FILE } from "./find-skills.ts";
import { readFrontMatter } from "./read-front-matter.ts";
import { describeReadError, MAX_BYTES } from "./skill-files.ts";

/** A skill as a run pins it. */
export const PinnedSkill = z.strictObject({
  name: z.string(),
  /** Absolute. */
  folder: z.string(),
  files: z.array(z.strictObject({ path: z.string(), hash: z.string() })),
});
export type PinnedSkill = z.infer<typeof PinnedSkill>;

/** The limit for one answer. The model reads longer files in parts. */
const MAX_TEXT_BYTES = 256 * 1024;
const MAX_LISTED_FILES = 100;

const FILE_NAME = /\.(png|jpe?g|gif|webp|pdf)$/i;

const Parameters = z.object({
  name: z.string().min(1).describe("Name of the skill"),
  path: z
    .string()
    .optional()
    .describe(`A file of the skill, relative to its folder; its instructions (${SKILL_FILE}) by default`),
  offset: z.number().int().min(1).optional().describe("First line to read; lines count from 1"),
  limit: z.number().int().min(1).optional().describe("How many lines to read"),
});
type ReadSkillRequest = z.infer<typeof Parameters>;

export const READ_SKILL_PARAMETERS = z.toJSONSchema(Parameters, { io: "input" });
export const READ_SKILL_DESCRIPTION =
  "Loads a skill: its instructions, or with `path` another file of its folder. Use it before you begin a task that a skill covers.";

/** @param name - The name by which the model calls the tool. */
export function createReadSkillTool(name: string, skills: readonly PinnedSkill[]): ExecutableTool {
  return defineTool({
    name,
    label: "Read skill",
    description: READ_SKILL_DESCRIPTION,
    inputSchema: Parameters,
    replay: "pure",
    quick: true,
    touches: (request) => {
      const skill = skills.find((one) => one.name === request.name);
      return skill === undefined ? {} : { paths: [join(skill.folder, resolvePath(skill, request) ?? ".")] };
    },
    summarise: (request) => [request.name, request.path].filter((part) => part !== undefined).join(" "),
    async execute(request, context) {
      const skill = skills.find((one) => one.name === request.name);
      if (skill === undefined) throw createUnknownSkillError(request.name, skills);
      return await readSkill(skill, request, context);
    },
  });
}

async function readSkill(
  skill: PinnedSkill,
  request: ReadSkillRequest,
  { signal }: ToolContext,
): Promise<ToolOutput> {
  throwIfCancelled(signal);
  const path = resolvePath(skill, request);
  const file = skill.files.find((one) => one.path === path);
  if (path === undefined) throw new ToolError("failed", `${request.path} is outside the skill's folder`);
  if (file === undefined) throw createUnknownFileError(skill, request.path ?? path);
  const bytes = await readPinnedFile(skill, path, file.hash);
  const details = { skill: skill.name, path, bytes: bytes.length };
  if (FILE_NAME.test(path)) {
    const result = buildFilePart(bytes, { name: basename(path) });
    if (result.type === "refused") throw new ToolError("failed", `${path} cannot be read: ${result.reason}`);
    if (result.part.type === "image" || !isTextFile(result.part)) return { content: [result.part], details };
  }
  const text = decodeText(bytes);
  if (text === undefined) {
    throw new ToolError(
      "failed",
      `${path} is not text (${bytes.length} bytes); programs can read it at ${join(skill.folder, path)}`,
    );
  }
  const selected = path === SKILL_FILE ? formatInstructions(skill, text) : text;
  return { content: [{ type: "text", text: selectLines(selected, request) }], details };
}

/** Reads a file that still matches what the run is pinned to. */
async function readPinnedFile(skill: PinnedSkill, path: string, hash: string): Promise<Buffer> {
  const bytes = await readBytes(join(skill.folder, path), skill.folder).catch((error: unknown) => {
    throw createChangedError(skill, `${path} can no longer be read: ${describeReadError(error)}`);
  });
  if (bytes !== undefined && createHash("sha256").update(bytes).digest("hex") === hash) return bytes;
  throw createChangedError(skill, `${path} has changed`);
}

/** Returns nothing for a file that exceeds the size limit of skills. */
async function readBytes(file: string, folder: string): Promise<Buffer | undefined> {
  const { handle } = await openFile(await openRoot(folder), file);
  try {
    return (await handle.stat()).size > MAX_BYTES ? undefined : await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** Returns a path relative to the skill's folder, or nothing if it leads outside. */
function resolvePath({ folder }: PinnedSkill, { path = SKILL_FILE }: ReadSkillRequest): string | undefined {
  const below = normalize(isAbsolute(path) ? relative(folder, path) : path);
  return below === ".." || below.startsWith("../") || isAbsolute(below) || below.includes("\0")
    ? undefined
    : below;
}

function formatInstructions({ folder, files }: PinnedSkill, text: string): string {
  const front = readFrontMatter(text);
  const body = (front.ok ? front.body : text).trim().replaceAll("{baseDir}", folder);
  const others = files.map(({ path }) => path).filter((path) => path !== SKILL_FILE);
  return [
    body,
    `[Folder of this skill: ${folder}${others.length === 0 ? "; it contains no other files" : `\nOther files: ${formatFileList(others)}`}]`,
  ].join("\n\n");
}

function selectLines(
  text: string,
  { offset = 1, limit = Number.POSITIVE_INFINITY }: ReadSkillRequest,
): string {
  const isWhole = offset === 1 && limit === Number.POSITIVE_INFINITY;
  const lines = text.split("\n");
  if (offset > lines.length)
    throw new ToolError("failed", `There is no line ${offset}: the file has ${lines.length} lines`);
  const chosen = isWhole ? text : lines.slice(offset - 1, offset - 1 + limit).join("\n");
  if (Buffer.byteLength(chosen) > MAX_TEXT_BYTES) {
    throw new ToolError(
      "failed",
      `These lines have more than ${MAX_TEXT_BYTES} bytes. Use offset and limit to read a part.`,
    );
  }
  if (isWhole) return chosen;
  return `[Lines ${offset}-${Math.min(lines.length, offset - 1 + limit)} of ${lines.length}]\n${chosen}`;
}

function formatFileList(paths: readonly string[]): string {
  const more = paths.length - MAX_LISTED_FILES;
  return `${paths.slice(0, MAX_LISTED_FILES).join(", ")}${more > 0 ? `, and ${more} more` : ""}`;
}

function createUnknownSkillError(name: string, skills: readonly PinnedSkill[]): ToolError {
  const names = skills.map((skill) => skill.name);
  const nearest = findNearestName(name, names);
  const hint = nearest === undefined ? `The skills are ${names.join(", ")}.` : `Did you mean "${nearest}"?`;
  return new ToolError("not-found", `There is no skill "${name}". ${hint}`);
}

function createUnknownFileError({ name, files }: PinnedSkill, path: string): ToolError {
  const paths = files.map((file) => file.path);
  const nearest = findNearestName(path, paths);
  const hint =
    nearest === undefined ? `Its files are ${formatFileList(paths)}.` : `Did you mean "${nearest}"?`;
  return new ToolError("not-found", `The skill ${name} had no file ${path} when this run began. ${hint}`);
}

function createChangedError({ name }: PinnedSkill, change: string): ToolError {
  return new ToolError(
    "failed",
    `The skill ${name} has changed since this run began: ${change}. The new version takes effect with the next prompt. Continue without it.`,
  );
}
