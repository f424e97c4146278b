import { Context } from "@temporalio/activity";
import { INLINE_BYTES } from "../../core/machine/append.ts";
import type { TaskWords } from "../../core/machine/task.ts";
import { extractJson } from "../../platform/text/extract-json.ts";
import { truncateForPreview } from "../../platform/text/preview.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { AssistantMessage } from "../../schema/message.ts";
import type { StructuredOutput } from "../../schema/output.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { schemaProblem } from "../../tools/argument-repair/check-schema.ts";
import { describeMisfits } from "../../tools/argument-repair/describe-misfits.ts";
import { FINISH_TOOL } from "../../tools/builtin/rest-tools.ts";
import type { HandOverDigest, HandOverInput } from "../activities.ts";
import type { Dependencies } from "../dependencies.ts";
import { textOf } from "../model/answer-digest.ts";
import { outputText } from "../model/structured-output.ts";
import { asFailure, DefinitionError } from "../step/failure.ts";
import { withinTime } from "../step/within-time.ts";

/** A pattern in a schema may compute for ever. */
const JUDGING_MS = 2_000;

/** Makes the prompt of one agent of what another has said, and checks that it fits. Only its hash travels. */
export async function handOver(
  { task, from, to }: HandOverInput,
  dependencies: Dependencies,
): Promise<HandOverDigest> {
  const { transcript, definitions } = dependencies;
  try {
    const definition = from === undefined ? undefined : await definitions.byHash(from.definitionHash);
    const asked = await taskText(task, transcript);
    const input =
      from === undefined || definition === undefined
        ? asked
        : ((await saidIn(from, definition.output, transcript)) ?? saidNothing(from));
    if (to?.input !== undefined) mustFit(input, to.input, from?.name ?? "task", to.name);
    const text = to?.prompt === undefined ? input : filled(to.prompt, { input, task: asked });
    const ref = await keptText(transcript, text);
    const bytes = Buffer.byteLength(text);
    return to === undefined ? { ref, bytes, text: truncateForPreview(text, INLINE_BYTES) } : { ref, bytes };
  } catch (error) {
    throw asFailure(error);
  }
}

/** Stores a text that belongs to the job whose workflow asks: it is kept as long as one of the job's sessions is. */
export async function keptText(transcript: Transcript, text: string): Promise<string> {
  const ref = await transcript.putText(text, Date.now());
  const job = Context.current().info.workflowExecution?.workflowId;
  if (job !== undefined) await transcript.archive.nameText(job, ref);
  return ref;
}

/** Words that a job was given, wherever they are. */
async function taskText(task: TaskWords, transcript: Pick<Transcript, "text">): Promise<string> {
  if (typeof task === "string") return task;
  if (task.text !== undefined) return task.text;
  const stored = task.ref === undefined ? undefined : await transcript.text(task.ref);
  if (stored !== undefined) return stored;
  throw new DefinitionError(
    `The task refers to the text ${task.ref}, which this worker's transcript does not hold: start the job again`,
  );
}

type Said = Omit<NonNullable<HandOverInput["from"]>, "definitionHash">;

/** The last words of a run, or nothing: its structured output as JSON where its definition asks for one, else its text. */
export async function saidIn(
  { session, branch, loopId, finished }: Omit<Said, "name">,
  output: AgentDefinition["output"],
  transcript: Pick<Transcript, "entries" | "loops">,
): Promise<string | undefined> {
  const loop = (await transcript.loops(session)).find((one) => one.loopId === loopId);
  const entries =
    loop === undefined || branch === undefined
      ? []
      : await transcript.entries(session, branch, loop.from, Number.MAX_SAFE_INTEGER);
  const answers = entries.flatMap(({ message }) => (message.role === "assistant" ? [message] : []));
  const summary =
    finished === true ? answers.map(summaryIn).findLast((said) => said !== undefined) : undefined;
  const words = answers.map((answer) => wordsOf(answer, output)).findLast((said) => said !== "");
  return isStructured(output) ? words : (summary ?? words);
}

function saidNothing({ name, session, loopId }: Said): never {
  throw new DefinitionError(
    `"${name}" has said nothing that can be handed over: the transcript holds no answer with words in loop ` +
      `${loopId ?? "none"} of session ${session}`,
  );
}

function wordsOf(answer: AssistantMessage, output: AgentDefinition["output"]): string {
  return isStructured(output) ? (outputText(answer, output) ?? "") : textOf(answer);
}

function isStructured(output: AgentDefinition["output"]): output is StructuredOutput {
  return output !== undefined && output.type !== "text";
}

/** What an agent that works by itself has called its work's end with. */
function summaryIn({ content }: AssistantMessage): string | undefined {
  const call = content.find((part) => part.type === "toolCall" && part.name === FINISH_TOOL);
  const summary =
    call?.type === "toolCall" ? (call.arguments as { summary?: unknown } | null)?.summary : undefined;
  return typeof summary === "string" && summary !== "" ? summary : undefined;
}

function filled(template: string, words: { readonly input: string; readonly task: string }): string {
  return template.replace(/\{\{\s*(input|task)\s*\}\}/g, (_, name: "input" | "task") => words[name]);
}

function mustFit(text: string, schema: Readonly<Record<string, unknown>>, from: string, to: string): void {
  const wrong = schemaProblem(schema);
  if (wrong !== undefined) {
    throw new DefinitionError(
      `The \`input\` of stage "${to}" is not a JSON Schema that can be used: ${wrong}`,
    );
  }
  const misfitsOf = (value: unknown) =>
    describeMisfits(value, schema)?.replace(/(^|; )arguments: /g, "$1the whole: ");
  const problems = withinTime(
    JUDGING_MS,
    () => {
      const found = extractJson(text, (value) => misfitsOf(value) === undefined);
      return found.type === "found" ? misfitsOf(found.value) : found.reason;
    },
    () => `it takes longer than ${JUDGING_MS / 1000} s to hold it against the schema: make it simpler`,
  );
  if (problems === undefined) return;
  throw new DefinitionError(
    `What "${from}" has said does not fit the \`input\` of stage "${to}": ${problems}`,
  );
}
