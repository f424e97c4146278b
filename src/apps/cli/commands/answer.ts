import type { Command } from "commander";
import type { AnswerResult, Holdfast, WaitingCall } from "../../../client/index.ts";
import { parseTypedValue } from "../../../client/runs/form-values.ts";
import { formatWaitingCall } from "../approval-view.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { SESSION_ARGUMENT, withSession } from "../find-session.ts";
import { readJsonObject } from "../json-object.ts";
import { formatCount } from "../text.ts";
import { UsageError } from "../usage-error.ts";

type Flags = {
  readonly value?: readonly string[];
  readonly values?: string;
  readonly accept?: boolean;
  readonly decline?: boolean;
  readonly cancel?: boolean;
};
type AnswerKind = "accept" | "decline" | "cancel";

export function configureAnswerCommand(command: Command, runAction: RunAction): void {
  command
    .argument("<session>", SESSION_ARGUMENT)
    .argument("[call]", "the call's id, as listed by status; optional while only one call waits")
    .option("--value <name=value>", "a value of the form; repeatable", (one, all: string[] = []) => [
      ...all,
      one,
    ])
    .option("--values <json>", "all values: a JSON object, or @FILE with one")
    .option("--accept", "yes: you have completed the task at the address, or the form's defaults are right")
    .option("--decline", "no")
    .option("--cancel", "dismiss the question without a decision")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast answer 5f0c…
  $ holdfast answer 5f0c… --value name=Ada --value copies=2
  $ holdfast answer 5f0c… toolu_01 --values @values.json
  $ holdfast answer 5f0c… toolu_01 --decline

Holdfast checks the values against the form before it sends anything.`,
    )
    .action(async (session: string, call: string | undefined, flags: Flags) =>
      runAction((context) => answer(context, session, call, flags)),
    );
}

async function answer(
  context: Context,
  reference: string,
  call: string | undefined,
  flags: Flags,
): Promise<number> {
  const kind = parseAnswerKind(flags);
  return withSession(context, reference, async (holdfast, session) => {
    if (kind === undefined) return showWaiting(context, holdfast, session, call);
    const values = kind === "accept" ? await readValues(holdfast, session, call, flags) : {};
    const result = await holdfast.session(session).approvals.answer(call, { answer: kind, values });
    return reportAnswer(context, session, kind, result);
  });
}

function parseAnswerKind({ value, values, accept, decline, cancel }: Flags): AnswerKind | undefined {
  const hasValues = value !== undefined || values !== undefined;
  const kinds: AnswerKind[] = [
    ...(accept === true || hasValues ? ["accept" as const] : []),
    ...(decline === true ? ["decline" as const] : []),
    ...(cancel === true ? ["cancel" as const] : []),
  ];
  if (kinds.length > 1) throw new UsageError("Give one answer: values or --accept, --decline, or --cancel.");
  return kinds[0];
}

async function showWaiting(
  context: Context,
  holdfast: Holdfast,
  session: string,
  call: string | undefined,
): Promise<number> {
  const asking = (await holdfast.session(session).approvals.list()).filter((one) => matchesCall(one, call));
  for (const one of asking) {
    if (context.json) context.printJson({ type: "needs-approval", ...one });
    else for (const line of formatWaitingCall(one, { options: context.options })) context.print(line);
  }
  if (asking.length === 0 && !context.json) context.print("No call asks a question.");
  return EXIT.ok;
}

async function readValues(
  holdfast: Holdfast,
  session: string,
  call: string | undefined,
  { value = [], values }: Flags,
): Promise<Readonly<Record<string, unknown>>> {
  const all = values === undefined ? {} : readJsonObject("--values", values);
  if (value.length === 0) return all;
  const [asked, other] = (await holdfast.session(session).approvals.list()).filter((one) =>
    matchesCall(one, call),
  );
  const schema = asked?.question?.type === "form" && other === undefined ? asked.question.schema : {};
  const typed = value.map((one) => {
    const at = one.indexOf("=");
    if (at < 1) throw new UsageError(`--value takes NAME=VALUE, as in --value name=Ada; found ${one}.`);
    const name = one.slice(0, at);
    return [name, parseTypedValue(schema, name, one.slice(at + 1))] as const;
  });
  return { ...all, ...Object.fromEntries(typed) };
}

function matchesCall({ questionRef, toolCallId }: WaitingCall, call: string | undefined): boolean {
  return questionRef !== undefined && (call === undefined || call === toolCallId);
}

const ANSWER_LABELS = { accept: "answered", decline: "declined", cancel: "cancelled" } as const;

function reportAnswer(context: Context, session: string, answer: AnswerKind, result: AnswerResult): number {
  const { session: owner, toolCallId, tool, waiting } = result;
  if (context.json)
    context.printJson({ type: "answered", session: owner, answer, toolCallId, tool, waiting });
  else {
    const remaining = waiting === 0 ? "" : `; ${formatCount(waiting, "call")} more to answer`;
    context.print(`${ANSWER_LABELS[answer]}: ${tool}${owner === session ? "" : ` of ${owner}`}${remaining}`);
  }
  return EXIT.ok;
}
