import { createHash } from "node:crypto";
import { isAbsolute, join, normalize, relative } from "node:path";
import { z } from "zod";
import { nearestName } from "../../../platform/text/nearest-name.ts";
import { defineTool, type ExecutableTool, type ToolContext, ToolError, type ToolOutput } from "../../tool.ts";
import { openFile, openRoot } from "../../workspace/confine.ts";
import { refuseIfCancelled } from "../../workspace/system-error.ts";
import { pictureType } from "../picture.ts";
import { MAX_BYTES, whyNot } from "./files.ts";
import { SKILL_FILE, textOf } from "./find.ts";
import { readFrontMatter } from "./front-matter.ts";

/** A skill as a run is pinned to it. */
export const PinnedSkill = z.strictObject({
  name: z.string(),
  /** Absolute. */
  folder: z.string(),
  files: z.array(z.strictObject({ path: z.string(), hash: z.string() })),
});
export type PinnedSkill = z.infer<typeof PinnedSkill>;

/** Of one answer; more is read by lines. */
const MAX_TEXT_BYTES = 256 * 1024;
const MAX_IMAGE_BYTES = 20 * 1024 * 1024;
const MAX_LISTED_FILES = 100;

const IMAGE_NAME = /\.(png|jpe?g|gif|webp)$/i;

const Parameters = z.object({
  name: z.string().min(1).describe("Name of the skill"),
  path: z
    .string()
    .optional()
    .describe(`A file of the skill, relative to its folder; its instructions (${SKILL_FILE}) if absent`),
  offset: z.number().int().min(1).optional().describe("First line to read; lines count from 1"),
  limit: z.number().int().min(1).optional().describe("How many lines to read"),
});
type Request = z.infer<typeof Parameters>;

export const READ_SKILL_SHAPE = z.toJSONSchema(Parameters, { io: "input" });
export const READ_SKILL_DESCRIPTION =
  "Loads a skill: its instructions, or with `path` another file of its folder. Use it before a task that a skill is for.";

/** @param name - What the model calls it. */
export function readSkillTool(name: string, skills: readonly PinnedSkill[]): ExecutableTool {
  return defineTool({
    name,
    label: "Read skill",
    description: READ_SKILL_DESCRIPTION,
    parameters: Parameters,
    replay: "pure",
    quick: true,
    touches: (request) => {
      const skill = skills.find((one) => one.name === request.name);
      return skill === undefined ? {} : { paths: [join(skill.folder, pathIn(skill, request) ?? ".")] };
    },
    summarise: (request) => [request.name, request.path].filter((part) => part !== undefined).join(" "),
    async execute(request, context) {
      const skill = skills.find((one) => one.name === request.name);
      if (skill === undefined) throw unknownSkill(request.name, skills);
      return await readSkill(skill, request, context);
    },
  });
}

async function readSkill(skill: PinnedSkill, request: Request, { signal }: ToolContext): Promise<ToolOutput> {
  refuseIfCancelled(signal);
  const path = pathIn(skill, request);
  const file = skill.files.find((one) => one.path === path);
  if (path === undefined)
    throw new ToolError("failed", `${request.path} leads out of the folder of the skill`);
  if (file === undefined) throw unknownFile(skill, request.path ?? path);
  const bytes = await bytesOf(skill, path, file.hash);
  const details = { skill: skill.name, path, bytes: bytes.length };
  if (IMAGE_NAME.test(path)) {
    const mimeType = pictureType(bytes);
    if (mimeType !== undefined && bytes.length > MAX_IMAGE_BYTES)
      throw new ToolError("failed", "Image too large");
    if (mimeType !== undefined) {
      return { content: [{ type: "image", data: bytes.toString("base64"), mimeType }], details };
    }
  }
  const text = textOf(bytes);
  if (text === undefined) {
    throw new ToolError(
      "failed",
      `${path} is not a text (${bytes.length} bytes); programs find it at ${join(skill.folder, path)}`,
    );
  }
  const said = path === SKILL_FILE ? instructions(skill, text) : text;
  return { content: [{ type: "text", text: part(said, request) }], details };
}

/** Of a file that is still what the run is pinned to. */
async function bytesOf(skill: PinnedSkill, path: string, hash: string): Promise<Buffer> {
  const bytes = await readBytes(join(skill.folder, path), skill.folder).catch((error: unknown) => {
    throw changed(skill, `${path} cannot be read any more: ${whyNot(error)}`);
  });
  if (bytes !== undefined && createHash("sha256").update(bytes).digest("hex") === hash) return bytes;
  throw changed(skill, `${path} is another one now`);
}

/** Nothing of a file that has become larger than a skill may be. */
async function readBytes(file: string, folder: string): Promise<Buffer | undefined> {
  const { handle } = await openFile(await openRoot(folder), file);
  try {
    return (await handle.stat()).size > MAX_BYTES ? undefined : await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** Below the skill's folder. Nothing for a path that leads out of it. */
function pathIn({ folder }: PinnedSkill, { path = SKILL_FILE }: Request): string | undefined {
  const below = normalize(isAbsolute(path) ? relative(folder, path) : path);
  return below === ".." || below.startsWith("../../../") || isAbsolute(below) || below.includes("\0")
    ? undefined
    : below;
}

function instructions({ folder, files }: PinnedSkill, text: string): string {
  const front = readFrontMatter(text);
  const body = (front.ok ? front.body : text).trim().replaceAll("{baseDir}", folder);
  const others = files.map(({ path }) => path).filter((path) => path !== SKILL_FILE);
  return [
    body,
    `[Folder of this skill: ${folder}${others.length === 0 ? "; it holds no other files" : `\nOther files: ${listed(others)}`}]`,
  ].join("\n\n");
}

function part(text: string, { offset = 1, limit = Number.POSITIVE_INFINITY }: Request): string {
  const isWhole = offset === 1 && limit === Number.POSITIVE_INFINITY;
  const lines = text.split("\n");
  if (offset > lines.length)
    throw new ToolError("failed", `There is no line ${offset}: it has ${lines.length} lines`);
  const chosen = isWhole ? text : lines.slice(offset - 1, offset - 1 + limit).join("\n");
  if (Buffer.byteLength(chosen) > MAX_TEXT_BYTES) {
    throw new ToolError(
      "failed",
      `These are more than ${MAX_TEXT_BYTES} bytes. Use offset and limit for a part.`,
    );
  }
  if (isWhole) return chosen;
  return `[Lines ${offset}-${Math.min(lines.length, offset - 1 + limit)} of ${lines.length}]\n${chosen}`;
}

function listed(paths: readonly string[]): string {
  const more = paths.length - MAX_LISTED_FILES;
  return `${paths.slice(0, MAX_LISTED_FILES).join(", ")}${more > 0 ? `, and ${more} more` : ""}`;
}

function unknownSkill(name: string, skills: readonly PinnedSkill[]): ToolError {
  const names = skills.map((skill) => skill.name);
  const near = nearestName(name, names);
  const hint = near === undefined ? `There are ${names.join(", ")}.` : `Did you mean "${near}"?`;
  return new ToolError("not-found", `There is no skill "${name}". ${hint}`);
}

function unknownFile({ name, files }: PinnedSkill, path: string): ToolError {
  const paths = files.map((file) => file.path);
  const near = nearestName(path, paths);
  const hint = near === undefined ? `It has ${listed(paths)}.` : `Did you mean "${near}"?`;
  return new ToolError("not-found", `The skill ${name} had no file ${path} when this run began. ${hint}`);
}

function changed({ name }: PinnedSkill, how: string): ToolError {
  return new ToolError(
    "failed",
    `The skill ${name} has changed since this run began: ${how}. What it says now counts from the next prompt on; go on without it.`,
  );
}
