import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type {
  BodyLine,
  ContentLine,
  DefinitionLine,
  EntryLine,
  EventLine,
  StepLine,
} from "../../../schema/export-line.ts";
import { StoreError } from "../store-error.ts";
import { decodeMessage } from "./checksums.ts";
import { readText } from "./contents.ts";
import { readDefinition } from "./definitions.ts";
import type { Engine } from "./engine.ts";
import { readEventRows } from "./events.ts";
import { readStepEnd, readStepLines } from "./export-steps.ts";
import { hashText } from "./hash-text.ts";
import { readWholeMessage } from "./message-data.ts";
import { readPages } from "./paged-reads.ts";
import { type BranchPlan, planBranches } from "./plan-branches.ts";
import {
  type LoopPlan,
  readEvaluationLines,
  readInboxLines,
  readLoopLines,
  readRun,
  readSessionLine,
  readStoredEntries,
} from "./read-export-lines.ts";
import { listReferencedTexts } from "./texts.ts";

const PAGE = 100;

/** How often an export restarts because a loop was opened or closed during its first reads. */
const MAX_ATTEMPTS = 20;

/**
 * Exports all lines of a session in its current state. Later writes are not included.
 *
 * Throws `StoreError` if the session does not exist or is deleted during the export.
 */
export async function* exportLines(engine: Engine, session: string): AsyncGenerator<BodyLine, void, void> {
  const plan = await planExport(engine, session);
  yield plan.session;
  yield* plan.evaluations;
  yield* plan.loops.map(({ line }) => line);
  yield* plan.branches.map(({ line }) => line);
  const contents = new ContentWriter(engine);
  const hashes = [plan.session.definitionHash, ...plan.loops.map(({ line }) => line.definitionHash)];
  for (const hash of hashes) yield* contents.writeDefinition(hash);
  for (const branch of plan.branches) yield* exportEntries(engine, session, branch, contents);
  for (const loop of plan.loops) yield* exportEvents(engine, loop, contents);
  yield* exportSteps(engine, session, plan.steps, contents);
  yield* plan.inbox;
}

async function planExport(engine: Engine, session: string) {
  for (let attempt = 1; ; attempt++) {
    const first = await engine.read(() => readSessionLine(session));
    if (first === undefined) throw new StoreError("other", `The transcript has no session ${session}.`);
    const inbox = await engine.read(() => readInboxLines(session));
    const evaluations = await engine.read(() => readEvaluationLines(session));
    const loops = await readPages<LoopPlan>(engine, (after, limit) => readLoopLines(session, after, limit));
    const steps = await engine.read(() => readStepEnd(session));
    const branches = await engine.read(() => planBranches(session));
    const last = await engine.read(() => readSessionLine(session));
    const isSteady = JSON.stringify(first) === JSON.stringify(last);
    if (isSteady || attempt === MAX_ATTEMPTS)
      return { session: first, inbox, evaluations, loops, steps, branches };
  }
}

/** Writes texts and definitions once each, before the lines that refer to them. */
class ContentWriter {
  readonly #engine: Engine;
  readonly #written = new Set<string>();
  /** The hash of each message as it is exported, by the hash under which it is stored. */
  readonly #messages = new Map<string, string>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** The text may have been deleted. */
  async *writeText(hash: string): AsyncGenerator<ContentLine, void, void> {
    if (this.#written.has(hash)) return;
    const text = await this.#engine.read(() => readText(hash));
    this.#written.add(hash);
    if (text !== undefined) yield { type: "content", hash, text };
  }

  /**
   * Writes the JSON of a message, and returns its hash. An exported message contains the data of its images and files.
   */
  async *writeMessage(hash: string): AsyncGenerator<ContentLine, string, void> {
    const known = this.#messages.get(hash);
    if (known !== undefined) return known;
    const text = await this.#engine.read(() => readWholeMessage(hash));
    if (text === undefined)
      throw new StoreError("damaged", `The transcript is damaged: the text ${hash} is missing.`);
    const written = hashText(text);
    this.#messages.set(hash, written);
    if (!this.#written.has(written)) yield { type: "content", hash: written, text };
    this.#written.add(written);
    return written;
  }

  async *writeDefinition(hash: string): AsyncGenerator<DefinitionLine, void, void> {
    if (this.#written.has(hash)) return;
    this.#written.add(hash);
    const definition = await this.#engine.read(() => readDefinition(hash));
    if (definition !== undefined) yield { type: "definition", hash, definition };
  }
}

async function* exportEntries(
  engine: Engine,
  session: string,
  { ref, from, line }: BranchPlan,
  contents: ContentWriter,
): AsyncGenerator<BodyLine, void, void> {
  for (let position = from; position < line.length; ) {
    const next = position;
    const rows = await engine.read(() => readStoredEntries(ref, next, line.length, PAGE));
    for (const row of rows) {
      if (row.position !== position) break;
      const content = row.content === null ? undefined : yield* contents.writeMessage(row.content);
      const message = decodeMessage(row);
      const entry: EntryLine = {
        type: "entry",
        session,
        branch: line.id,
        position: row.position,
        run: row.run,
        origin: row.origin as EntryLine["origin"],
        ...(row.message_id === null ? {} : { messageId: row.message_id }),
        tokens: row.tokens,
        ...(message === null ? {} : { message: JSON.parse(message) }),
        ...omitUndefined({ content }),
      };
      yield entry;
      position = row.position + 1;
    }
    if (position === next) {
      throw new StoreError("other", `Session ${session} was deleted during its export.`);
    }
    await engine.yieldIfDue();
  }
}

async function* exportEvents(
  engine: Engine,
  { ref, line: { loopId }, events: parts }: LoopPlan,
  contents: ContentWriter,
): AsyncGenerator<BodyLine, void, void> {
  for (const part of parts) {
    const run = await engine.read(() => readRun(ref, part.ordinal));
    for (let sequence = part.from; sequence < part.to; ) {
      const next = sequence;
      const page = await engine.read(() => readEventRows({ ref, loopId }, part, next, PAGE));
      if (page.length === 0) {
        throw new StoreError("other", `Loop ${loopId} was deleted during its export.`);
      }
      for (const { atMs, body, sequence: at } of page) {
        for (const text of listReferencedTexts(body)) yield* contents.writeText(text);
        if (body.type === "DefinitionChanged") yield* contents.writeDefinition(body.to);
        yield { type: "event", loopId, run, sequence: at, atMs, body } satisfies EventLine;
        sequence = at + 1;
      }
      await engine.yieldIfDue();
    }
  }
}

async function* exportSteps(
  engine: Engine,
  session: string,
  end: number,
  contents: ContentWriter,
): AsyncGenerator<BodyLine, void, void> {
  for (let after = 0; ; ) {
    const nextRef = after;
    const page = await engine.read(() => readStepLines(session, nextRef, end, PAGE));
    for (const { ref, record } of page) {
      if (record.kind === "open-loop" && record.note !== undefined) yield* contents.writeText(record.note);
      yield record satisfies StepLine;
      after = ref;
    }
    if (page.length < PAGE) return;
    await engine.yieldIfDue();
  }
}
