import { Context } from "@temporalio/activity";
import { INLINE_BYTES } from "../../core/machine/append-message.ts";
import type { TaskInput } from "../../core/machine/task.ts";
import { isAttachment, joinFiles } from "../../core/view/attachment.ts";
import { sumContents } from "../../core/view/estimate.ts";
import { loadValidator } from "../../platform/json-schema/schema-validator.ts";
import { extractJson } from "../../platform/text/extract-json.ts";
import { truncateForPreview } from "../../platform/text/preview.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { AssistantMessage, Content } from "../../schema/message.ts";
import { getMessageText, joinText } from "../../schema/message-text.ts";
import type { StructuredOutput } from "../../schema/output.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { describeSchemaErrors } from "../../tools/argument-repair/describe-schema-errors.ts";
import { findSchemaProblem } from "../../tools/argument-repair/find-schema-problem.ts";
import { FINISH_TOOL } from "../../tools/builtin/next-round-tools.ts";
import type { PassOutputDigest, PassOutputInput } from "../activity-types.ts";
import type { Dependencies } from "../dependencies.ts";
import { formatOutput } from "../model/structured-output.ts";
import { DefinitionError, toFailure } from "../step/failure.ts";
import { runWithTimeout } from "../step/run-with-timeout.ts";

/** The limit for validation, because a pattern in a schema may take for ever. */
const VALIDATION_TIMEOUT_MS = 2_000;

/** Makes the prompt of one agent from the output of another, and validates it. Only its hash crosses history. */
export async function passOutput(
  { task, from, to }: PassOutputInput,
  dependencies: Dependencies,
): Promise<PassOutputDigest> {
  const { transcript, definitions } = dependencies;
  try {
    const definition = from === undefined ? undefined : await definitions.read(from.definitionHash);
    const asked = await readTask(task, transcript);
    const input =
      from === undefined || definition === undefined
        ? asked.text
        : ((await readOutput(from, definition.output, transcript)) ?? throwNoOutput(from));
    if (to?.input !== undefined) checkInput(input, to.input, from?.name ?? "task", to.name);
    const text = to?.prompt === undefined ? input : fillTemplate(to.prompt, { input, task: asked.text });
    if (from === undefined && to !== undefined && asked.content !== undefined) {
      const content =
        to.prompt === undefined ? asked.content : joinFiles(text, asked.content.filter(isAttachment));
      return await storeParts(transcript, to.name, content);
    }
    const ref = await storeText(transcript, text);
    const bytes = Buffer.byteLength(text);
    return to === undefined ? { ref, bytes, text: truncateForPreview(text, INLINE_BYTES) } : { ref, bytes };
  } catch (error) {
    throw toFailure(error);
  }
}

/** Stores a text of the job whose workflow calls. It is retained as long as one of the job's sessions is. */
export async function storeText(transcript: Transcript, text: string): Promise<string> {
  return await keepForJob(transcript, await transcript.putText(text, Date.now()));
}

async function keepForJob(transcript: Transcript, ref: string): Promise<string> {
  const job = getJob();
  if (job !== undefined) await transcript.archive.addTextOwner(job, ref);
  return ref;
}

function getJob(): string | undefined {
  return Context.current().info.workflowExecution?.workflowId;
}

/** Stores the prompt of the first stage with the images and files of the task. A repetition stores the same. */
async function storeParts(
  transcript: Transcript,
  stage: string,
  content: readonly Content[],
): Promise<PassOutputDigest> {
  const id = `${getJob() ?? ""}.${stage}`;
  const ref = await keepForJob(transcript, await transcript.putParts(id, content, Date.now()));
  return { ref, parts: true, tokens: sumContents(content), bytes: Buffer.byteLength(joinText(content)) };
}

/** Reads the text of a job's task, wherever it is stored; `content` is all of a task with images or files. */
async function readTask(
  task: TaskInput,
  transcript: Pick<Transcript, "readText" | "readParts">,
): Promise<{ readonly text: string; readonly content?: readonly Content[] }> {
  if (typeof task === "string") return { text: task };
  const { text, ref, parts } = task;
  if (text !== undefined) return { text };
  const content = ref === undefined || parts !== true ? undefined : await transcript.readParts(ref);
  if (content !== undefined) {
    const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
    return { text: texts.join("\n"), content };
  }
  const stored = ref === undefined || parts === true ? undefined : await transcript.readText(ref);
  if (stored !== undefined) return { text: stored };
  throw new DefinitionError(
    `The task refers to the text ${ref}, which this worker's transcript does not contain: start the job again`,
  );
}

type OutputSource = Omit<NonNullable<PassOutputInput["from"]>, "definitionHash">;

/**
 * Reads the output of a run, if there is one: the JSON of its structured output where its definition has one,
 * otherwise the text of its last answer.
 */
export async function readOutput(
  { session, branch, loopId, isFinished }: Omit<OutputSource, "name">,
  output: AgentDefinition["output"],
  transcript: Pick<Transcript, "readEntries" | "readLoops">,
): Promise<string | undefined> {
  const loop = (await transcript.readLoops(session)).find((one) => one.loopId === loopId);
  const entries =
    loop === undefined || branch === undefined
      ? []
      : await transcript.readEntries(session, branch, loop.from, Number.MAX_SAFE_INTEGER);
  const answers = entries.flatMap(({ message }) => (message.role === "assistant" ? [message] : []));
  const summary =
    isFinished === true ? answers.map(findSummary).findLast((said) => said !== undefined) : undefined;
  const answerText = answers.map((answer) => getOutputText(answer, output)).findLast((said) => said !== "");
  return isStructured(output) ? answerText : (summary ?? answerText);
}

function throwNoOutput({ name, session, loopId }: OutputSource): never {
  throw new DefinitionError(
    `"${name}" has no output to pass on: the transcript contains no answer with a text in loop ` +
      `${loopId ?? "none"} of session ${session}`,
  );
}

function getOutputText(answer: AssistantMessage, output: AgentDefinition["output"]): string {
  return isStructured(output) ? (formatOutput(answer, output) ?? "") : getMessageText(answer);
}

function isStructured(output: AgentDefinition["output"]): output is StructuredOutput {
  return output !== undefined && output.type !== "text";
}

/** Finds the summary of the call with which an autonomous agent ended its work. */
function findSummary({ content }: AssistantMessage): string | undefined {
  const call = content.find((part) => part.type === "toolCall" && part.name === FINISH_TOOL);
  const summary =
    call?.type === "toolCall" ? (call.arguments as { summary?: unknown } | null)?.summary : undefined;
  return typeof summary === "string" && summary !== "" ? summary : undefined;
}

function fillTemplate(template: string, values: { readonly input: string; readonly task: string }): string {
  return template.replace(/\{\{\s*(input|task)\s*\}\}/g, (_, name: "input" | "task") => values[name]);
}

function checkInput(text: string, schema: Readonly<Record<string, unknown>>, from: string, to: string): void {
  const wrong = findSchemaProblem(schema);
  if (wrong !== undefined) {
    throw new DefinitionError(`The \`input\` of stage "${to}" is not a usable JSON Schema: ${wrong}`);
  }
  const misfitsOf = (value: unknown) =>
    describeSchemaErrors(value, schema)?.replace(/(^|; )arguments: /g, "$1the output: ");
  loadValidator();
  const problems = runWithTimeout(
    VALIDATION_TIMEOUT_MS,
    () => {
      const found = extractJson(text, (value) => misfitsOf(value) === undefined);
      return found.type === "found" ? misfitsOf(found.value) : found.reason;
    },
    () =>
      `validation against the schema takes longer than ${VALIDATION_TIMEOUT_MS / 1000} s: simplify the schema`,
  );
  if (problems === undefined) return;
  throw new DefinitionError(
    `The output of "${from}" does not match the \`input\` of stage "${to}": ${problems}`,
  );
}
