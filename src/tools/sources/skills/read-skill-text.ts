import { findNearestName } from "../../../platform/text/nearest-name.ts";
import { truncateText } from "../../../platform/text/truncate-text.ts";
import { sanitiseText } from "../sanitise-text.ts";
import { type FrontMatterEntry, type FrontMatterValue, readFrontMatter } from "./read-front-matter.ts";
import type { SkillFault, SkillProblem } from "./skill-problem.ts";

// Reads a SKILL.md by the format of agentskills.io. Reading is lenient (SKL-02): a skill with a name and a description
// can be loaded despite other problems. All problems are still reported, for `holdfast
// skills check`.

export type SkillText = {
  readonly name: string;
  readonly description: string;
  /** The entries of `allowed-tools`. */
  readonly allowedTools: readonly string[];
  readonly body: string;
};

export type SkillTextResult = {
  /** Absent if the skill cannot be loaded. */
  readonly skill?: SkillText;
  readonly problems: readonly SkillProblem[];
};

const KEYS = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"] as const;
type Key = (typeof KEYS)[number];

const MAX_NAME_CHARS = 64;
const MAX_DESCRIPTION_CHARS = 1024;
const MAX_COMPATIBILITY_CHARS = 500;
/** The limit that the format recommends, because all of the text enters the context at once. */
const MANY_BODY_LINES = 500;

/** @param file - The name used in problems. @param folderName - The name of the folder that contains the file. */
export function readSkillText(text: string, file: string, folderName: string): SkillTextResult {
  const front = readFrontMatter(text);
  const problems: SkillProblem[] = [];
  const report = (fault: SkillFault, message: string, at: Partial<SkillProblem> = {}): void => {
    problems.push({ fault, severity: "error", file, message, ...at });
  };
  if (!front.ok) {
    report("invalid-frontmatter", front.message, { line: front.line });
    return { problems };
  }
  const { entries, body, error } = front;
  if (error !== undefined) {
    report("invalid-frontmatter", `this is not YAML: ${error.message}`, { line: error.line });
  }
  const reported: ReportProblem = (fault, message, { line, key }) =>
    report(fault, message, { line, field: key });
  for (const { key, line } of entries) {
    if ((KEYS as readonly string[]).includes(key)) continue;
    const near = findNearestName(key, KEYS);
    const hint = near === undefined ? "put your own keys under metadata" : `did you mean "${near}"?`;
    const message = `the format does not define this key; ${hint}`;
    report("unknown-key", message, { severity: "warning", line, field: key });
  }
  const entry = (key: Key) => entries.find((one) => one.key === key);
  const name = readName(entry("name"), folderName, reported);
  const description = readText(entry("description"), reported, MAX_DESCRIPTION_CHARS);
  for (const [key, value] of Object.entries({ name, description })) {
    if (value === undefined) report("missing-field", `${key} is missing`, { line: 1, field: key });
  }
  readText(entry("license"), reported);
  readText(entry("compatibility"), reported, MAX_COMPATIBILITY_CHARS);
  checkMetadata(entry("metadata"), reported);
  const allowedTools = readTools(entry("allowed-tools"), reported);
  const lines = body.trim() === "" ? 0 : body.split("\n").length;
  if (lines === 0)
    report("invalid-field", "there are no instructions below the front matter", { severity: "warning" });
  if (lines > MANY_BODY_LINES) {
    const message = `the instructions have ${lines} lines; move the parts that are not always needed to separate files`;
    report("invalid-field", message, { severity: "warning" });
  }
  if (name === undefined || description === undefined || !isLoadable(name)) return { problems };
  return {
    skill: {
      name,
      description: truncateText(description, MAX_DESCRIPTION_CHARS),
      allowedTools,
      body: body.trim(),
    },
    problems,
  };
}

type ReportProblem = (fault: SkillFault, message: string, entry: FrontMatterEntry) => void;

function readName(
  entry: FrontMatterEntry | undefined,
  folderName: string,
  report: ReportProblem,
): string | undefined {
  const name = readText(entry, report, MAX_NAME_CHARS);
  if (entry === undefined || name === undefined) return name;
  if (!/^[a-z0-9-]+$/.test(name)) {
    report("invalid-field", `"${name}" may contain only lowercase letters (a-z), digits and hyphens`, entry);
  }
  if (/^-|-$|--/.test(name)) {
    report("invalid-field", `"${name}" may not begin or end with a hyphen, nor contain two in a row`, entry);
  }
  if (name !== folderName) {
    report("invalid-field", `"${name}" must be the name of its folder, which is "${folderName}"`, entry);
  }
  return name;
}

/** Returns nothing for an empty value. A value that YAML reads as a number is meant as text. */
function readText(
  entry: FrontMatterEntry | undefined,
  report: ReportProblem,
  maxChars = Infinity,
): string | undefined {
  if (entry === undefined) return undefined;
  const { value, key } = entry;
  if (value.type !== "text" && value.type !== "bare") {
    if (value.type !== "none") report("invalid-field", "it must be text", entry);
    else if (key !== "name" && key !== "description") report("invalid-field", "it is empty", entry);
    return undefined;
  }
  if (value.type === "bare") report("invalid-field", `it must be text: put ${value.text} in quotes`, entry);
  const preview = value.text.replace(/[^\P{Cc}\n\t]/gu, " ");
  const text = sanitiseText(preview, Number.POSITIVE_INFINITY).trim();
  if (text.length > maxChars) {
    report("invalid-field", `it has ${text.length} characters; the maximum is ${maxChars}`, entry);
  }
  if (text === "" && key !== "name" && key !== "description") report("invalid-field", "it is empty", entry);
  return text === "" ? undefined : text;
}

function checkMetadata(entry: FrontMatterEntry | undefined, report: ReportProblem): void {
  if (entry === undefined || entry.value.type === "none") return;
  const { value } = entry;
  if (value.type !== "table") {
    report("invalid-field", "it must be a table of texts", entry);
    return;
  }
  for (const { key, line, value: member } of value.entries) {
    const at = { ...entry, key: `metadata.${key}`, line };
    if (member.type === "bare") report("invalid-field", `it must be text: put ${member.text} in quotes`, at);
    else if (member.type !== "text") report("invalid-field", "it must be text", at);
  }
}

/** Reads a text with blanks between the entries, or a list of texts. */
function readTools(entry: FrontMatterEntry | undefined, report: ReportProblem): readonly string[] {
  if (entry === undefined || entry.value.type === "none") return [];
  const { value } = entry;
  const texts = value.type === "list" ? value.items : [value];
  if (texts.some(({ type }) => type !== "text")) {
    report("invalid-field", "it must be text with spaces between the tools, or a list of texts", entry);
  }
  return texts.flatMap((one: FrontMatterValue) => (one.type === "text" ? splitTools(one.text) : []));
}

/**
 * `Bash(git add:*) Read` are two entries: a blank in brackets separates nothing, and a comma counts as a blank.
 * Unbalanced brackets leave the whole text as one entry, so that no part of it allows more than was meant.
 */
export function splitTools(text: string): readonly string[] {
  const parts = text.match(/[^\s,()]+(?:\([^)]*\)?)?|[()]/g) ?? [];
  return parts.some((part) => /^[()]/.test(part)) ? [text.trim()] : parts;
}

/** The model repeats the name, so it must be one line of limited length. */
function isLoadable(name: string): boolean {
  return name.length <= MAX_NAME_CHARS && !name.includes("\n") && !name.includes("\t");
}
