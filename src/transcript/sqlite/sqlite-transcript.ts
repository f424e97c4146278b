import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { Entry, LoopEvent, LoopStatus } from "../../schema/record.ts";
import type {
  EvaluationClosing,
  EvaluationOpened,
  EvaluationOpening,
  EvaluationRecord,
} from "../evaluation.ts";
import type { LoopClosing, LoopOpened, LoopOpening, LoopRecord } from "../loop.ts";
import type { BranchRecord, NewMessage, SessionRecord } from "../session.ts";
import type { Claimed, Step, StepKey, StepRecord } from "../step.ts";
import { StoreError } from "../store-error.ts";
import type { Transcript } from "../transcript.ts";
import type { Remains, WorkerProcess } from "../worker-process.ts";
import type { Outbox, Place, Stored, StoreWrite } from "../write.ts";
import { findBranch, lengthOf } from "./branches.ts";
import { textOf } from "./contents.ts";
import { definitionOf } from "./definitions.ts";
import { evaluationsOf } from "./evaluations.ts";
import { storeError, translated } from "./fault.ts";
import { inboxOf } from "./inbox.ts";
import { inspect } from "./inspect.ts";
import { readEntries, readEvents, readPages } from "./long-reads.ts";
import type { OperationArguments, OperationName, OperationResult } from "./operations.ts";
import { processesOf, remainsOf } from "./processes.ts";
import { Reader } from "./reader.ts";
import { branchesOf, loopPage, sessionOf, sessionsOf, stepPage } from "./records.ts";
import type { Sql } from "./sql.ts";
import { noteOf } from "./steps.ts";
import { Writer } from "./writer.ts";

export type SqliteOptions = {
  readonly path: string;
  /** Opens an existing file without ever writing to it. */
  readonly readOnly?: boolean | undefined;
  /** How long to wait for a lock that another process holds. */
  readonly busyMs?: number | undefined;
};

const BUSY_MS = 10_000;

/** The transcript in one SQLite file, which any number of processes of a host may use at once. */
export class SqliteTranscript implements Transcript {
  readonly path: string;
  readonly #reader: Reader;
  readonly #writer: Writer | undefined;

  private constructor(path: string, reader: Reader, writer: Writer | undefined) {
    this.path = path;
    this.#reader = reader;
    this.#writer = writer;
  }

  /** Makes the file if there is none. Throws `StoreError` for one that must not or cannot be used. */
  static async open(options: SqliteOptions): Promise<SqliteTranscript> {
    const path = resolve(options.path);
    const busyMs = options.busyMs ?? BUSY_MS;
    const readOnly = options.readOnly ?? false;
    const writer = readOnly ? undefined : await openWriter(path, busyMs);
    if (readOnly && inspect(path, "read") === "new") {
      throw storeError("unreachable", path, "there is no such file to read");
    }
    const reader = new Reader(path, busyMs, readOnly);
    try {
      await reader.read(checkTables);
    } catch (error) {
      await writer?.close();
      throw error;
    }
    return new SqliteTranscript(path, reader, writer);
  }

  saveDefinition(definition: AgentDefinition): Promise<string> {
    return this.#write("saveDefinition", definition);
  }

  definition(hash: string): Promise<AgentDefinition | undefined> {
    return this.#reader.read((sql) => definitionOf(sql, hash));
  }

  putText(text: string, atMs: number): Promise<string> {
    return this.#write("putText", text, atMs);
  }

  text(hash: string): Promise<string | undefined> {
    return this.#reader.read((sql) => textOf(sql, hash));
  }

  openLoop(opening: LoopOpening): Promise<LoopOpened> {
    return this.#write("openLoop", opening);
  }

  claim(step: Step, place: Place, outbox: Outbox, atMs: number): Promise<Claimed> {
    return this.#write("claim", step, place, outbox, atMs);
  }

  release(step: Step): Promise<void> {
    return this.#write("release", step);
  }

  noteGroup(step: Step, group: { pgid: number; startTime: string }): Promise<void> {
    return this.#write("noteGroup", step, group);
  }

  note(step: StepKey): Promise<string | undefined> {
    return this.#reader.read((sql) => noteOf(sql, step));
  }

  setNote(step: Step, text: string): Promise<void> {
    return this.#write("setNote", step, text);
  }

  store(write: StoreWrite): Promise<Stored> {
    return this.#write("store", write);
  }

  storeInbox(write: StoreWrite, messages: readonly NewMessage[]): Promise<Stored> {
    return this.#write("storeInbox", write, messages);
  }

  closeLoop(closing: LoopClosing): Promise<Stored> {
    return this.#write("closeLoop", closing);
  }

  openEvaluation(opening: EvaluationOpening): Promise<EvaluationOpened> {
    return this.#write("openEvaluation", opening);
  }

  warnOfEvaluation(evaluation: string, warning: string): Promise<void> {
    return this.#write("warnOfEvaluation", evaluation, warning);
  }

  closeEvaluation(closing: EvaluationClosing): Promise<unknown> {
    return this.#write("closeEvaluation", closing);
  }

  evaluations(session: string): Promise<readonly EvaluationRecord[]> {
    return this.#reader.read((sql) => evaluationsOf(sql, session));
  }

  session(id: string): Promise<SessionRecord | undefined> {
    return this.#reader.read((sql) => sessionOf(sql, id));
  }

  sessions(filter: {
    limit: number;
    agentName?: string;
    status?: LoopStatus;
    spawnedBy?: string;
  }): Promise<readonly SessionRecord[]> {
    return this.#reader.read((sql) => sessionsOf(sql, filter));
  }

  loops(session: string): Promise<readonly LoopRecord[]> {
    return readPages(this.#reader, (sql, behind, limit) => loopPage(sql, session, behind, limit));
  }

  branches(session: string): Promise<readonly BranchRecord[]> {
    return this.#reader.read((sql) => branchesOf(sql, session));
  }

  entries(session: string, branch: string, from: number, to: number): Promise<readonly Entry[]> {
    return readEntries(this.#reader, session, branch, from, to);
  }

  length(session: string, branch: string): Promise<number> {
    return this.#reader.read((sql) => {
      const found = findBranch(sql, session, branch);
      return found === undefined ? 0 : lengthOf(sql, found);
    });
  }

  events(loopId: string, from: number): Promise<readonly LoopEvent[]> {
    return readEvents(this.#reader, loopId, from);
  }

  inbox(session: string): Promise<readonly NewMessage[]> {
    return this.#reader.read((sql) => inboxOf(sql, session));
  }

  steps(session: string): Promise<readonly StepRecord[]> {
    return readPages(this.#reader, (sql, behind, limit) => stepPage(sql, session, behind, limit));
  }

  signIn(process: WorkerProcess): Promise<void> {
    return this.#write("signIn", process);
  }

  signOut(processId: string): Promise<void> {
    return this.#write("signOut", processId);
  }

  processes(host: string): Promise<readonly WorkerProcess[]> {
    return this.#reader.read((sql) => processesOf(sql, host));
  }

  remains(processId: string): Promise<Remains> {
    return this.#reader.read((sql) => remainsOf(sql, processId));
  }

  async close(): Promise<void> {
    await this.#writer?.close();
    this.#reader.close();
  }

  async #write<Name extends OperationName>(
    name: Name,
    ...values: OperationArguments<Name>
  ): Promise<OperationResult<Name>> {
    if (this.#writer === undefined) {
      throw new StoreError("read-only", `Transcript ${this.path} was opened for reading only.`);
    }
    return this.#writer.write(name, ...values);
  }
}

/** A new file and its folder are for their owner alone: conversations are private. */
async function openWriter(path: string, busyMs: number): Promise<Writer> {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (inspect(path, "write") === "new") closeSync(openSync(path, "a", 0o600));
  } catch (error) {
    throw translated(error, path);
  }
  return Writer.open({ path, busyMs });
}

/** Touches the root of every table, so that a damaged file is found at the door and not in the middle of a run. */
function checkTables(sql: Sql): void {
  const tables = sql.all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'");
  for (const { name } of tables) sql.all(`SELECT 1 AS there FROM "${name}" LIMIT 1`);
}
