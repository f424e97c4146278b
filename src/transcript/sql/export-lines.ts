import type {
  BodyLine,
  ContentLine,
  DefinitionLine,
  EntryLine,
  EventLine,
  StepLine,
} from "../../schema/export-line.ts";
import { StoreError } from "../store-error.ts";
import { messageIn } from "./checksums.ts";
import { textOf } from "./contents.ts";
import { definitionOf } from "./definitions.ts";
import type { Engine } from "./engine.ts";
import { eventRows } from "./events.ts";
import {
  evaluationLines,
  inboxLines,
  keptEntries,
  type LoopPlan,
  loopLines,
  runOf,
  sessionLine,
} from "./export.ts";
import { type BranchPlan, branchPlans } from "./export-branches.ts";
import { lastStep, stepLines } from "./export-steps.ts";
import { readPages } from "./long-reads.ts";
import { textsNamedBy } from "./texts.ts";

const PAGE = 100;

/** How often an export begins anew because a loop was opened or closed while it looked what there is. */
const LOOKS = 20;

/**
 * All lines of a session as it is now. What is written to it meanwhile does not come along.
 *
 * Throws `StoreError` when there is no such session, or when it is deleted meanwhile.
 */
export async function* exportLines(engine: Engine, session: string): AsyncGenerator<BodyLine, void, void> {
  const plan = await planned(engine, session);
  yield plan.session;
  yield* plan.evaluations;
  yield* plan.loops.map(({ line }) => line);
  yield* plan.branches.map(({ line }) => line);
  const contents = new Contents(engine);
  const hashes = [plan.session.definitionHash, ...plan.loops.map(({ line }) => line.definitionHash)];
  for (const hash of hashes) yield* contents.definition(hash);
  for (const branch of plan.branches) yield* entries(engine, session, branch, contents);
  for (const loop of plan.loops) yield* events(engine, loop, contents);
  yield* steps(engine, session, plan.steps, contents);
  yield* plan.inbox;
}

async function planned(engine: Engine, session: string) {
  for (let look = 1; ; look++) {
    const first = await engine.read(() => sessionLine(session));
    if (first === undefined) throw new StoreError("other", `The transcript has no session ${session}.`);
    const inbox = await engine.read(() => inboxLines(session));
    const evaluations = await engine.read(() => evaluationLines(session));
    const loops = await readPages<LoopPlan>(engine, (behind, limit) => loopLines(session, behind, limit));
    const steps = await engine.read(() => lastStep(session));
    const branches = await engine.read(() => branchPlans(session));
    const last = await engine.read(() => sessionLine(session));
    const isSteady = JSON.stringify(first) === JSON.stringify(last);
    if (isSteady || look === LOOKS) return { session: first, inbox, evaluations, loops, steps, branches };
  }
}

/** Texts and definitions, each once, before what names them. */
class Contents {
  readonly #engine: Engine;
  readonly #given = new Set<string>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** @param hash - Of a text that may have been let go, where `must` is not said. */
  async *line(hash: string, must: boolean): AsyncGenerator<ContentLine, void, void> {
    if (this.#given.has(hash)) return;
    const text = await this.#engine.read(() => textOf(hash));
    if (text === undefined && must)
      throw new StoreError("damaged", `The transcript has lost the text ${hash}.`);
    this.#given.add(hash);
    if (text !== undefined) yield { type: "content", hash, text };
  }

  async *definition(hash: string): AsyncGenerator<DefinitionLine, void, void> {
    if (this.#given.has(hash)) return;
    this.#given.add(hash);
    const definition = await this.#engine.read(() => definitionOf(hash));
    if (definition !== undefined) yield { type: "definition", hash, definition };
  }
}

async function* entries(
  engine: Engine,
  session: string,
  { ref, from, line }: BranchPlan,
  contents: Contents,
): AsyncGenerator<BodyLine, void, void> {
  for (let position = from; position < line.length; ) {
    const next = position;
    const rows = await engine.read(() => keptEntries(ref, next, line.length, PAGE));
    for (const row of rows) {
      if (row.position !== position) break;
      if (row.content !== null) yield* contents.line(row.content, true);
      const message = messageIn(row);
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
        ...(row.content === null ? {} : { content: row.content }),
      };
      yield entry;
      position = row.position + 1;
    }
    if (position === next) {
      throw new StoreError("other", `Session ${session} was deleted while it was exported.`);
    }
    await engine.breath();
  }
}

async function* events(
  engine: Engine,
  { ref, line: { loopId }, events: parts }: LoopPlan,
  contents: Contents,
): AsyncGenerator<BodyLine, void, void> {
  for (const part of parts) {
    const run = await engine.read(() => runOf(ref, part.ordinal));
    for (let sequence = part.from; sequence < part.to; ) {
      const next = sequence;
      const page = await engine.read(() => eventRows({ ref, loopId }, part, next, PAGE));
      if (page.length === 0) {
        throw new StoreError("other", `Loop ${loopId} was deleted while it was exported.`);
      }
      for (const { atMs, body, sequence: at } of page) {
        for (const text of textsNamedBy(body)) yield* contents.line(text, false);
        if (body.type === "DefinitionChanged") yield* contents.definition(body.to);
        yield { type: "event", loopId, run, sequence: at, atMs, body } satisfies EventLine;
        sequence = at + 1;
      }
      await engine.breath();
    }
  }
}

async function* steps(
  engine: Engine,
  session: string,
  upto: number,
  contents: Contents,
): AsyncGenerator<BodyLine, void, void> {
  for (let behind = 0; ; ) {
    const after = behind;
    const page = await engine.read(() => stepLines(session, after, upto, PAGE));
    for (const { ref, record } of page) {
      if (record.kind === "open-loop" && record.note !== undefined) yield* contents.line(record.note, false);
      yield record satisfies StepLine;
      behind = ref;
    }
    if (page.length < PAGE) return;
    await engine.breath();
  }
}
