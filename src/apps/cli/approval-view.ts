import type { WaitingCall } from "../../client/index.ts";
import { listFormFields } from "../../client/runs/form-values.ts";
import { assertNever } from "../../platform/text/assert-never.ts";
import { isObject } from "../../platform/text/json.ts";
import { formatTimestamp } from "../../platform/text/timestamp.ts";
import { formatCommandLine } from "./command-line.ts";
import type { GlobalOptions } from "./context.ts";
import type { CurrentFile } from "./current-file.ts";
import { escapeInvisible, formatJson, joinLines, splitLines } from "./escape-invisible.ts";
import { diffLines, type LineChange } from "./line-changes.ts";
import type { Palette } from "./palette.ts";
import { formatCount, formatDuration } from "./text.ts";

// How a waiting call is displayed to the user: exactly as it would run, with nothing hidden.

/** A waiting call, with the current content of the file that it would write. */
export type ApprovalRequest = WaitingCall & { readonly currentFile?: CurrentFile };

/** The limits for changes and arguments; a command is always displayed in full. */
const MAX_LINES = 60;
const MAX_LINE_CHARS = 1_000;

/** Returns the path whose content is compared with what the call would write. */
export function getComparedPath({ tool, arguments: args }: WaitingCall): string | undefined {
  return tool === "write_file" && hasOnly(args, ["path", "content"]) ? args.path : undefined;
}

/** Formats a question for the user: the tool, the exact command, change or arguments, and the reason for the question. */
export function formatApprovalRequest(
  call: ApprovalRequest,
  { paint, whole = false }: { readonly paint: Palette; readonly whole?: boolean },
): readonly string[] {
  const { head, body, neverTruncated } = buildCallView(call, paint);
  const timeoutEffect = call.questionRef === undefined ? "denied" : "ended";
  return [
    `${paint.yellow("?")} ${formatAgentPath(call.path)}${paint.bold(head)}`,
    ...(whole || neverTruncated ? body : truncateLines(body, paint)).map((line) => `  ${line}`),
    paint.dim(`  reason: ${joinLines(call.reason)}`),
    ...formatCoverage(call).map((line) => paint.dim(`  ${line}`)),
    ...(call.untilMs === undefined
      ? []
      : [paint.dim(`  ${timeoutEffect} if there is no answer by ${formatTimestamp(call.untilMs)}`)]),
  ];
}

/** Reports whether `formatApprovalRequest` truncates something. */
export function isTruncated(call: ApprovalRequest, paint: Palette): boolean {
  const { body, neverTruncated } = buildCallView(call, paint);
  return !neverTruncated && (body.length > MAX_LINES || body.some((line) => line.length > MAX_LINE_CHARS));
}

/** Formats a waiting call as rows of a table: the call, the reason, since when, until when, and the answer commands. */
export function formatWaitingRows(
  call: WaitingCall,
  { options, nowMs }: { options: GlobalOptions; nowMs: number },
): readonly (readonly [string, string])[] {
  const { approve, deny } = formatAnswerCommands(call, options);
  const until =
    call.untilMs === undefined
      ? "until it is answered"
      : `until ${formatTimestamp(call.untilMs)}, then denied`;
  const elicitationRows = formatElicitation(call).map((line, at) => [at === 0 ? "asks" : "", line] as const);
  return [
    ["waits", describeCall(call)],
    ["reason", joinLines(call.reason)],
    ...elicitationRows,
    ["since", `${formatTimestamp(call.sinceMs)} (${formatDuration(nowMs - call.sinceMs)}), ${until}`],
    ...formatCoverage(call).map((line) => ["always", line.replace(/^always: /, "")] as const),
    ["yes", approve],
    ["no", deny],
  ];
}

/** Formats a waiting call and the commands that answer it, for users who cannot answer in place. */
export function formatWaitingCall(
  call: WaitingCall,
  { options }: { options: GlobalOptions },
): readonly string[] {
  const { approve, deny } = formatAnswerCommands(call, options);
  return [
    `Waits for ${call.questionRef === undefined ? "approval" : "an answer"}: ${describeCall(call)} (${joinLines(call.reason)})`,
    ...formatElicitation(call).map((line) => `  ${line}`),
    ...formatCoverage(call).map((line) => `  ${line}`),
    `  yes: ${approve}`,
    `  no:  ${deny}`,
  ];
}

/** Formats what an approval with `always` covers. */
export function formatCoverage({
  grantDescriptions,
}: Pick<WaitingCall, "grantDescriptions">): readonly string[] {
  if (grantDescriptions === undefined) return [];
  const what =
    grantDescriptions.length === 0
      ? "covers nothing; each such call needs approval"
      : grantDescriptions.join(", ");
  return [`always: ${joinLines(what)}`];
}

/** Formats the path of agents to a call, the tool, and its exact command or else its summary. */
export function describeCall({ tool, summary, arguments: args, path }: WaitingCall): string {
  const command = hasOnly(args, ["command"]) ? args.command : undefined;
  const about = joinLines(command ?? summary);
  return `${formatAgentPath(path)}${about === "" ? tool : `${tool}: ${about}`}`;
}

/** Formats the path of sub-agents that own the call; empty for the session itself. */
function formatAgentPath(path: readonly string[]): string {
  return path.length === 0 ? "" : `${path.map(joinLines).join(" › ")} › `;
}

/** Formats the question of a call's tool: the server's message, then the fields of the form or the address. */
function formatElicitation({ questionRef, question }: WaitingCall): readonly string[] {
  if (questionRef === undefined) return [];
  if (question === undefined) return ["(the question is not in the transcript of this machine)"];
  const messageLines = splitLines(question.message);
  if (question.type === "url") return [...messageLines, `open ${joinLines(question.url)}`];
  const fields = listFormFields(question.schema).map(
    ({ name, title, description, kind, required, preset }) => {
      const about = [title, description].filter((one) => one !== undefined && one !== name).join(", ");
      const requirement =
        preset === undefined ? (required ? "required" : "optional") : `default ${formatJson(preset)}`;
      return joinLines(`- ${name}: ${kind}; ${requirement}${about === "" ? "" : ` (${about})`}`);
    },
  );
  return [...messageLines, ...fields];
}

/** Formats the arguments as one editable line of JSON: for a form its defaults, undefined for other than an object. */
export function formatArgumentsJson({
  arguments: args,
  questionRef,
  question,
}: WaitingCall): string | undefined {
  if (questionRef !== undefined) {
    const fields = question?.type === "form" ? listFormFields(question.schema) : [];
    return formatJson(Object.fromEntries(fields.map(({ name, preset }) => [name, preset ?? null])));
  }
  return isObject(args) ? formatJson(args) : undefined;
}

function formatAnswerCommands(
  { toolCallId, session, questionRef, question }: WaitingCall,
  options: GlobalOptions,
): { readonly approve: string; readonly deny: string } {
  if (questionRef !== undefined) {
    const fields =
      question?.type === "form" ? listFormFields(question.schema).filter(({ required }) => required) : [];
    const values = fields.map(({ name }) => `--value ${joinLines(name)}=...`);
    const yes = values.length === 0 ? "--accept" : values.join(" ");
    return {
      approve: `${formatCommandLine(options, ["answer", session, toolCallId])} ${yes}`,
      deny: formatCommandLine(options, ["answer", session, toolCallId, "--decline"]),
    };
  }
  return {
    approve: formatCommandLine(options, ["approve", session, toolCallId]),
    deny: formatCommandLine(options, ["deny", session, toolCallId]),
  };
}

type CallView = {
  readonly head: string;
  readonly body: readonly string[];
  /** Never shortened. */
  readonly neverTruncated: boolean;
};

function buildCallView(call: ApprovalRequest, paint: Palette): CallView {
  const { tool, arguments: args, summary } = call;
  if (call.questionRef !== undefined)
    return { head: `${tool} asks you`, body: formatElicitation(call), neverTruncated: true };
  if (hasOnly(args, ["command"])) {
    return { head: `${tool} wants to run`, body: splitLines(args.command), neverTruncated: true };
  }
  if (tool === "edit_file" && hasOnly(args, ["path", "old_text", "new_text"])) {
    const body = formatChanges(diffLines(args.old_text, args.new_text), paint);
    return { head: `${tool} wants to change ${joinLines(args.path)}`, body, neverTruncated: false };
  }
  if (tool === "write_file" && hasOnly(args, ["path", "content"])) {
    return buildWriteView(joinLines(args.path), args.content, call, paint);
  }
  if (args === undefined) {
    const body = [joinLines(summary), "(its arguments are not in the transcript of this machine)"];
    return { head: `${tool} wants to run`, body: body.filter((line) => line !== ""), neverTruncated: false };
  }
  const text = typeof args === "string" ? args : (JSON.stringify(args, undefined, 2) ?? "");
  return { head: `${tool} wants to run with`, body: splitLines(text), neverTruncated: false };
}

function buildWriteView(
  path: string,
  content: string,
  { tool, currentFile }: ApprovalRequest,
  paint: Palette,
): CallView {
  const all = content.split("\n").map((text) => ({ type: "added" as const, text }));
  switch (currentFile?.type) {
    case "text": {
      const same = currentFile.text === content;
      const body = same
        ? ["(the file already has exactly this content)"]
        : formatChanges(diffLines(currentFile.text, content), paint);
      return { head: `${tool} wants to replace ${path}`, body, neverTruncated: false };
    }
    case "absent":
      return {
        head: `${tool} wants to write ${path}, which does not exist`,
        body: formatChanges(all, paint),
        neverTruncated: false,
      };
    default:
      return {
        head: `${tool} wants to write ${path}; its current content cannot be compared`,
        body: formatChanges(all, paint),
        neverTruncated: false,
      };
  }
}

function formatChanges(changes: readonly LineChange[], paint: Palette): readonly string[] {
  return changes.map((change) => {
    switch (change.type) {
      case "same":
        return `  ${escapeInvisible(change.text)}`;
      case "removed":
        return paint.red(`- ${escapeInvisible(change.text)}`);
      case "added":
        return paint.green(`+ ${escapeInvisible(change.text)}`);
      case "skipped":
        return paint.dim(`  … ${formatCount(change.lines, "unchanged line")}`);
      default:
        return assertNever(change);
    }
  });
}

function truncateLines(lines: readonly string[], paint: Palette): readonly string[] {
  const kept = lines
    .slice(0, MAX_LINES)
    .map((line) => (line.length <= MAX_LINE_CHARS ? line : `${line.slice(0, MAX_LINE_CHARS)}…`));
  const omitted = lines.length - kept.length;
  return omitted === 0 ? kept : [...kept, paint.dim(`… ${omitted} more lines`)];
}

/** Reports whether the value has exactly these fields, all texts, so that displaying them displays everything. */
function hasOnly<Name extends string>(
  value: unknown,
  names: readonly Name[],
): value is Readonly<Record<Name, string>> {
  return (
    isObject(value) &&
    Object.keys(value).length === names.length &&
    names.every((name) => typeof value[name] === "string")
  );
}
