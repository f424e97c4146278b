// Which public symbols need a sentence, and which have none.
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { Comment, ReflectionKind } from "typedoc";

/** What a field with this name and type means wherever it occurs, so that no docstring has to repeat it. */
const COMMON_FIELDS = [
  ["address", "string", "The address of Temporal's server: `host:port`."],
  ["agent", "AgentDefinitionInput", "The definition of the agent."],
  ["agentId", "string", "The permanent id of the agent, a UUID."],
  ["branch", "string", "The id of the branch."],
  ["childLoopId", "string", "The loop of the agent that the call ran; absent if it ran none."],
  ["costUsd", "Cost", "US dollars; `null` if a price is unknown."],
  ["definitionHash", "string", "The hash of the agent's definition."],
  ["endedAtMs", "number", "When it ended, in Unix milliseconds; absent while it runs."],
  ["loopId", "string", "The id of the loop."],
  ["namespace", "string", "The namespace on Temporal's server."],
  ["parentLoopId", "string", "The loop that this one follows; absent if it follows none."],
  ["runId", "string", "Temporal's id of the run."],
  ["session", "string", "The id of the session."],
  ["sessionId", "string", "The id of the session."],
  ["startedAtMs", "number", "When it began, in Unix milliseconds."],
  ["status", "StatusCode", "The state of the session or part, in one word."],
  ["taskQueue", "string", "The task queue of the workers."],
  ["toolCallId", "string", "The id of the call, unique within its turn."],
  ["toolName", "string", "The name of the tool."],
  ["turn", "number", "The turn within its loop, counted from 0."],
  ["turnIndex", "number", "The turn within its loop, counted from 0."],
];

/** Lets a schema refer to the type that is inferred from it, and gives common fields their sentence. */
export function completeSentences(project) {
  for (const reflection of Object.values(project.reflections)) {
    if (!reflection.isDeclaration()) continue;
    const inferred = findInferredSibling(reflection);
    if (inferred !== undefined) {
      // `export type { X }` exports no schema.
      if (reflection.kindOf(ReflectionKind.TypeAlias)) project.removeReflection(reflection);
      else reflection.comment = new Comment([text("The schema of "), link(inferred), text(".")]);
      continue;
    }
    // The initial values of a schema's fields are calls of zod, no defaults.
    if (reflection.kindOf(ReflectionKind.Property) && !reflection.parent?.kindOf(ReflectionKind.Class)) {
      delete reflection.defaultValue;
    }
    if (hasSentence(reflection)) continue;
    const sentence = findCommonSentence(reflection);
    if (sentence !== undefined) reflection.comment = new Comment([text(sentence)]);
  }
}

/** The type that is inferred from this schema, which has its name. */
function findInferredSibling(reflection) {
  const { type, name, parent } = reflection;
  if (type?.type !== "reference" || !/^z\.Zod/.test(type.name)) return undefined;
  return parent.children?.find(
    (each) => each !== reflection && each.name === name && each.kindOf(ReflectionKind.TypeAlias),
  );
}

function text(content) {
  return { kind: "text", text: content };
}

function link(target) {
  return { kind: "inline-tag", tag: "@link", text: target.name, target };
}

function findCommonSentence(reflection) {
  if (!reflection.kindOf(ReflectionKind.Property)) return undefined;
  const type = String(reflection.type ?? "").replace(/ \| undefined$/, "");
  return COMMON_FIELDS.find(([name, of]) => name === reflection.name && of === type)?.[2];
}

/** Lists what the docstrings do not say: a sentence about a public symbol, or the unit of an amount. */
export function findProblems(project, root) {
  const problems = [];
  for (const reflection of Object.values(project.reflections)) {
    const name = `${formatPlace(project, reflection, root)}: ${formatName(reflection)}`;
    if (needsSentence(reflection) && !hasSentence(reflection)) {
      problems.push(`${name} has no sentence. What to do: give it a docstring.`);
    }
    if (isAmount(reflection) && !hasUnit(reflection)) {
      problems.push(`${name} has no unit. What to do: say it in the name or in the docstring.`);
    }
  }
  return [...new Set(problems)].sort();
}

const AMOUNT = /(time|timeout|delay|interval|duration|age|size|length|cost|price|budget|window|threshold)$/i;
const UNIT =
  /milliseconds|seconds|minutes|hours|days|bytes|characters|tokens|dollars|\bms\b|KiB|number of|factor|part of the|the most /i;
const UNIT_IN_NAME = /(Ms|Secs|Seconds|Days|Bytes|Chars|Lines|Tokens|Usd|Pct)$/;

/** A parameter or field whose number means nothing without its unit. */
function isAmount({ type, name, ...reflection }) {
  const types = type?.type === "union" ? type.types : [type];
  const isNumber = types.some((each) => each?.type === "intrinsic" && each.name === "number");
  return isNumber && AMOUNT.test(name) && reflection.flags?.isExternal !== true;
}

function hasUnit({ name, comment }) {
  const text = (comment?.summary ?? []).map((part) => part.text).join("");
  return UNIT_IN_NAME.test(name) || UNIT.test(text);
}

const DOCUMENTED_KINDS =
  ReflectionKind.Class |
  ReflectionKind.Interface |
  ReflectionKind.TypeAlias |
  ReflectionKind.Function |
  ReflectionKind.Variable |
  ReflectionKind.Property |
  ReflectionKind.Method |
  ReflectionKind.Accessor |
  ReflectionKind.Constructor |
  ReflectionKind.Module;

function needsSentence(reflection) {
  return (
    reflection.isDeclaration() &&
    reflection.kindOf(DOCUMENTED_KINDS) &&
    !reflection.flags.isExternal &&
    !isDiscriminant(reflection) &&
    !isNamedAfterItsType(reflection) &&
    !isKeyOfMapping(reflection)
  );
}

/** `type: "text"` says by which value one recognizes the variant. */
function isDiscriminant({ name, type }) {
  return type?.type === "literal" || name === "type";
}

/** `usage: Usage` says nothing that the type's own sentence does not. */
function isNamedAfterItsType(reflection) {
  if (!reflection.kindOf(ReflectionKind.Property)) return false;
  const types = reflection.type?.type === "union" ? reflection.type.types : [reflection.type];
  return types.some(
    (type) => type?.type === "reference" && type.name.toLowerCase() === reflection.name.toLowerCase(),
  );
}

/** The keys of a mapped type are values, such as the names of hooks. */
function isKeyOfMapping(reflection) {
  return reflection.kindOf(ReflectionKind.Property) && /[^\w]/.test(reflection.name);
}

function hasSentence(reflection) {
  const { signatures = [], getSignature, setSignature } = reflection;
  return isSummarized(reflection) || isSummarized(getSignature ?? setSignature)
    ? true
    : signatures.length > 0 && signatures.every(isSummarized);
}

function isSummarized(reflection) {
  return reflection?.comment?.summary.some(({ text }) => text.trim() !== "") === true;
}

function formatName(reflection) {
  const names = [];
  for (let each = reflection; each !== undefined && !each.isProject(); each = each.parent) {
    if (each.name !== "__type") names.unshift(each.name);
  }
  return names.join(".");
}

function formatPlace(project, reflection, root) {
  const places = [reflection, ...(reflection.signatures ?? [])];
  const id = places.map((each) => project.getSymbolIdFromReflection(each)).find((each) => each !== undefined);
  if (id?.fileName === undefined || !Number.isFinite(id.pos)) return "src";
  const line = readFileSync(id.fileName, "utf8").slice(0, id.pos).split("\n").length;
  return `${relative(root, id.fileName)}:${line}`;
}
