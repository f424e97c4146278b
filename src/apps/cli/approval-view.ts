import type { WaitingCall } from "../../client/index.ts";
import { formFields } from "../../client/runs/form-values.ts";
import { assertNever } from "../../platform/text/assert-never.ts";
import { commandLine } from "./command-line.ts";
import type { GlobalOptions } from "./context.ts";
import { type LineChange, lineChanges } from "./line-changes.ts";
import type { Palette } from "./palette.ts";
import type { PresentFile } from "./present-file.ts";
import { count } from "./words.ts";

// What a person is shown of a call that waits. It must be what would run, to the letter: nothing of it may hide.

/** A call that waits, with what the file that it would write holds now. */
export type Question = WaitingCall & { readonly present?: PresentFile };

/** Of changes and arguments; a command is always shown whole. */
const MAX_LINES = 60;
const MAX_LINE_CHARS = 1_000;

/** The path whose content is compared with what the call would write. */
export function comparedPath({ tool, arguments: args }: WaitingCall): string | undefined {
  return tool === "write_file" && hasOnly(args, ["path", "content"]) ? args.path : undefined;
}

/** A question as it is asked: tool, the exact command, change or arguments, and why it is asked. */
export function questionLines(
  call: Question,
  { paint, whole = false }: { readonly paint: Palette; readonly whole?: boolean },
): readonly string[] {
  const { head, body, exact } = shownOf(call, paint);
  const late = call.question === undefined ? "refused" : "ended";
  return [
    `${paint.yellow("?")} ${agents(call.path)}${paint.bold(head)}`,
    ...(whole || exact ? body : cut(body, paint)).map((line) => `  ${line}`),
    paint.dim(`  why: ${onOneLine(call.reason)}`),
    ...coverageLines(call).map((line) => paint.dim(`  ${line}`)),
    ...(call.untilMs === undefined
      ? []
      : [paint.dim(`  ${late} when nobody answers until ${iso(call.untilMs)}`)]),
  ];
}

/** Whether `questionLines` leaves something out. */
export function isCut(call: Question, paint: Palette): boolean {
  const { body, exact } = shownOf(call, paint);
  return !exact && (body.length > MAX_LINES || body.some((line) => line.length > MAX_LINE_CHARS));
}

/** A call that waits, as rows of a table: what, why, since when, until when, and what to type. */
export function waitingRows(
  call: WaitingCall,
  { options, nowMs }: { options: GlobalOptions; nowMs: number },
): readonly (readonly [string, string])[] {
  const { approve, deny } = answerCommands(call, options);
  const until =
    call.untilMs === undefined ? "until somebody answers" : `until ${iso(call.untilMs)}, then refused`;
  const asked = askedLines(call).map((line, at) => [at === 0 ? "asks" : "", line] as const);
  return [
    ["waits", waitsFor(call)],
    ["why", onOneLine(call.reason)],
    ...asked,
    ["since", `${iso(call.sinceMs)} (${duration(nowMs - call.sinceMs)}), ${until}`],
    ...coverageLines(call).map((line) => ["always", line.replace(/^always: /, "")] as const),
    ["yes", approve],
    ["no", deny],
  ];
}

/** A call that waits and the commands to answer it with, for who cannot answer in place. */
export function waitingLines(call: WaitingCall, { options }: { options: GlobalOptions }): readonly string[] {
  const { approve, deny } = answerCommands(call, options);
  return [
    `Waits for ${call.question === undefined ? "approval" : "an answer"}: ${waitsFor(call)} (${onOneLine(call.reason)})`,
    ...askedLines(call).map((line) => `  ${line}`),
    ...coverageLines(call).map((line) => `  ${line}`),
    `  yes: ${approve}`,
    `  no:  ${deny}`,
  ];
}

/** What `always` would let run from then on. */
export function coverageLines({ covers }: Pick<WaitingCall, "covers">): readonly string[] {
  if (covers === undefined) return [];
  const what = covers.length === 0 ? "covers nothing; each such call is asked for" : covers.join(", ");
  return [`always: ${onOneLine(what)}`];
}

/** The tool and its exact command, or what its summary says; before it the agents on the way down to it. */
export function waitsFor({ tool, summary, arguments: args, path }: WaitingCall): string {
  const command = hasOnly(args, ["command"]) ? args.command : undefined;
  const about = onOneLine(command ?? summary);
  return `${agents(path)}${about === "" ? tool : `${tool}: ${about}`}`;
}

/** Who asks, where it is not the session itself. */
function agents(path: readonly string[]): string {
  return path.length === 0 ? "" : `${path.map(onOneLine).join(" › ")} › `;
}

/** What its tool asks: the server's words, then the fields of the form or the address. */
function askedLines({ question, asks }: WaitingCall): readonly string[] {
  if (question === undefined) return [];
  if (asks === undefined) return ["(what it asks is not in the transcript of this machine)"];
  const words = textLines(asks.message);
  if (asks.type === "url") return [...words, `open ${onOneLine(asks.url)}`];
  const fields = formFields(asks.schema).map(({ name, title, description, kind, required, preset }) => {
    const about = [title, description].filter((one) => one !== undefined && one !== name).join(", ");
    const given =
      preset === undefined ? (required ? "required" : "may be left out") : `${json(preset)} unless said`;
    return onOneLine(`- ${name}: ${kind}; ${given}${about === "" ? "" : ` (${about})`}`);
  });
  return [...words, ...fields];
}

/** The arguments on one line of JSON, to be edited; none that are not an object. Of a form, what it presets. */
export function argumentsLine({ arguments: args, question, asks }: WaitingCall): string | undefined {
  if (question !== undefined) {
    const fields = asks?.type === "form" ? formFields(asks.schema) : [];
    return json(Object.fromEntries(fields.map(({ name, preset }) => [name, preset ?? null])));
  }
  return isObject(args) ? json(args) : undefined;
}

function answerCommands(
  { toolCallId, session, question, asks }: WaitingCall,
  options: GlobalOptions,
): { readonly approve: string; readonly deny: string } {
  if (question !== undefined) {
    const fields = asks?.type === "form" ? formFields(asks.schema).filter(({ required }) => required) : [];
    const values = fields.map(({ name }) => `--value ${onOneLine(name)}=...`);
    const yes = values.length === 0 ? "--accept" : values.join(" ");
    return {
      approve: `${commandLine(options, ["answer", session, toolCallId])} ${yes}`,
      deny: commandLine(options, ["answer", session, toolCallId, "--decline"]),
    };
  }
  return {
    approve: commandLine(options, ["approve", session, toolCallId]),
    deny: commandLine(options, ["deny", session, toolCallId]),
  };
}

type Shown = {
  readonly head: string;
  readonly body: readonly string[];
  /** Never shortened. */
  readonly exact: boolean;
};

function shownOf(call: Question, paint: Palette): Shown {
  const { tool, arguments: args, summary } = call;
  if (call.question !== undefined) return { head: `${tool} asks you`, body: askedLines(call), exact: true };
  if (hasOnly(args, ["command"])) {
    return { head: `${tool} wants to run`, body: textLines(args.command), exact: true };
  }
  if (tool === "edit_file" && hasOnly(args, ["path", "old_text", "new_text"])) {
    const body = changeLines(lineChanges(args.old_text, args.new_text), paint);
    return { head: `${tool} wants to change ${onOneLine(args.path)}`, body, exact: false };
  }
  if (tool === "write_file" && hasOnly(args, ["path", "content"])) {
    return writing(onOneLine(args.path), args.content, call, paint);
  }
  if (args === undefined) {
    const body = [onOneLine(summary), "(its arguments are not in the transcript of this machine)"];
    return { head: `${tool} wants to run`, body: body.filter((line) => line !== ""), exact: false };
  }
  const text = typeof args === "string" ? args : (JSON.stringify(args, undefined, 2) ?? "");
  return { head: `${tool} wants to run with`, body: textLines(text), exact: false };
}

function writing(path: string, content: string, { tool, present }: Question, paint: Palette): Shown {
  const all = content.split("\n").map((text) => ({ type: "added" as const, text }));
  switch (present?.type) {
    case "text": {
      const same = present.text === content;
      const body = same
        ? ["(it holds just this already)"]
        : changeLines(lineChanges(present.text, content), paint);
      return { head: `${tool} wants to replace ${path}`, body, exact: false };
    }
    case "absent":
      return {
        head: `${tool} wants to write ${path}, which is not there yet`,
        body: changeLines(all, paint),
        exact: false,
      };
    default:
      return {
        head: `${tool} wants to write ${path}; what it holds now cannot be compared`,
        body: changeLines(all, paint),
        exact: false,
      };
  }
}

function changeLines(changes: readonly LineChange[], paint: Palette): readonly string[] {
  return changes.map((change) => {
    switch (change.type) {
      case "same":
        return `  ${visible(change.text)}`;
      case "removed":
        return paint.red(`- ${visible(change.text)}`);
      case "added":
        return paint.green(`+ ${visible(change.text)}`);
      case "skipped":
        return paint.dim(`  … ${count(change.lines, "line")} the same`);
      default:
        return assertNever(change);
    }
  });
}

function cut(lines: readonly string[], paint: Palette): readonly string[] {
  const shown = lines
    .slice(0, MAX_LINES)
    .map((line) => (line.length <= MAX_LINE_CHARS ? line : `${line.slice(0, MAX_LINE_CHARS)}…`));
  const left = lines.length - shown.length;
  return left === 0 ? shown : [...shown, paint.dim(`… ${left} lines more`)];
}

function textLines(text: string): readonly string[] {
  return visible(text).split("\n");
}

function onOneLine(text: string): string {
  return visible(text).replaceAll("\n", "\\n");
}

/** Control characters and characters without a shape are written out: they could hide or turn around what is run. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character === "\n" || character === "\t" ? character : escaped(character),
  );
}

function json(value: unknown): string {
  return (JSON.stringify(value) ?? "").replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, at) => unit(character.charCodeAt(at))).join(""),
  );
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : unit(code);
}

function unit(code: number): string {
  return `\\u${code.toString(16).padStart(4, "0")}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** These fields and no other, each a text: then showing them shows all. */
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

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** How long, in its largest unit. */
export function duration(ms: number): string {
  for (const [name, size] of UNITS) {
    const whole = Math.floor(ms / size);
    if (whole >= 1) return count(whole, name);
  }
  return "less than a minute";
}
