import type { Command } from "commander";
import type { Answered, Holdfast, WaitingCall } from "../../../client/index.ts";
import { typedValue } from "../../../client/runs/form-values.ts";
import { waitingLines } from "../approval-view.ts";
import { withHoldfast } from "../connection.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { jsonObject } from "../json-object.ts";
import { UsageError } from "../usage-error.ts";
import { count } from "../words.ts";

type Act = (work: (context: Context) => Promise<number>) => Promise<void>;
type Flags = {
  readonly value?: readonly string[];
  readonly values?: string;
  readonly accept?: boolean;
  readonly decline?: boolean;
  readonly cancel?: boolean;
};
type Word = "accept" | "decline" | "cancel";

export function answerCommand(program: Command, act: Act): void {
  program
    .command("answer")
    .description("Answer what the tool of a waiting call asks; without an answer, show it")
    .argument("<session>", "the session's id")
    .argument("[call]", "the id of the call, as status shows it; may be left out while only one waits")
    .option("--value <name=value>", "a value of the form; again for each", (one, all: string[] = []) => [
      ...all,
      one,
    ])
    .option("--values <json>", "all values: a JSON object, or @FILE that holds one")
    .option("--accept", "yes: it is done at the address, or the form's presets are right")
    .option("--decline", "no")
    .option("--cancel", "neither yes nor no")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast answer 5f0c…
  $ holdfast answer 5f0c… --value name=Ada --value copies=2
  $ holdfast answer 5f0c… toolu_01 --values @values.json
  $ holdfast answer 5f0c… toolu_01 --decline

The values are checked against what is asked before anything is sent.`,
    )
    .action(async (session: string, call: string | undefined, flags: Flags) =>
      act((context) => answer(context, session, call, flags)),
    );
}

async function answer(
  context: Context,
  session: string,
  call: string | undefined,
  flags: Flags,
): Promise<number> {
  const word = wordOf(flags);
  return withHoldfast(context, async (holdfast) => {
    if (word === undefined) return show(context, holdfast, session, call);
    const values = word === "accept" ? await valuesOf(holdfast, session, call, flags) : {};
    const taken = await holdfast.answer(session, call, { answer: word, values });
    return told(context, session, word, taken);
  });
}

function wordOf({ value, values, accept, decline, cancel }: Flags): Word | undefined {
  const given = value !== undefined || values !== undefined;
  const words: Word[] = [
    ...(accept === true || given ? ["accept" as const] : []),
    ...(decline === true ? ["decline" as const] : []),
    ...(cancel === true ? ["cancel" as const] : []),
  ];
  if (words.length > 1) throw new UsageError("Give one answer: values or --accept, --decline, or --cancel.");
  return words[0];
}

async function show(
  context: Context,
  holdfast: Holdfast,
  session: string,
  call: string | undefined,
): Promise<number> {
  const asking = (await holdfast.approvals(session)).filter((one) => isMeant(one, call));
  for (const one of asking) {
    if (context.json) context.printJson({ type: "needs-approval", ...one });
    else for (const line of waitingLines(one, { options: context.options })) context.print(line);
  }
  if (asking.length === 0 && !context.json) context.print("Nothing is asked.");
  return EXIT.ok;
}

async function valuesOf(
  holdfast: Holdfast,
  session: string,
  call: string | undefined,
  { value = [], values }: Flags,
): Promise<Readonly<Record<string, unknown>>> {
  const all = values === undefined ? {} : jsonObject("--values", values);
  if (value.length === 0) return all;
  const [asked, other] = (await holdfast.approvals(session)).filter((one) => isMeant(one, call));
  const schema = asked?.asks?.type === "form" && other === undefined ? asked.asks.schema : {};
  const typed = value.map((one) => {
    const at = one.indexOf("=");
    if (at < 1) throw new UsageError(`--value takes NAME=VALUE, as in --value name=Ada; found ${one}.`);
    const name = one.slice(0, at);
    return [name, typedValue(schema, name, one.slice(at + 1))] as const;
  });
  return { ...all, ...Object.fromEntries(typed) };
}

function isMeant({ question, toolCallId }: WaitingCall, call: string | undefined): boolean {
  return question !== undefined && (call === undefined || call === toolCallId);
}

const SAID = { accept: "answered", decline: "declined", cancel: "cancelled" } as const;

function told(context: Context, session: string, answer: Word, taken: Answered): number {
  const { session: of, toolCallId, tool, waiting } = taken;
  if (context.json) context.printJson({ type: "answered", session: of, answer, toolCallId, tool, waiting });
  else {
    const more = waiting === 0 ? "" : `; ${count(waiting, "call")} more to answer`;
    context.print(`${SAID[answer]}: ${tool}${of === session ? "" : ` of ${of}`}${more}`);
  }
  return EXIT.ok;
}
