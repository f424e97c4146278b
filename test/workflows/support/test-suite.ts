import { onTestFinished } from "vitest";
import type { RunSuiteOptions } from "../../../src/client/suites/start-suite.ts";
import type { SuiteCell, SuiteRun } from "../../../src/client/suites/suite-run.ts";
import {
  type CaseInput,
  defineSuite,
  type ScorerInput,
  type SuiteInput,
} from "../../../src/config/suite-file/define-suite.ts";
import type { AgentDefinitionInput } from "../../../src/schema/definition.ts";
import type { RecordedRequest } from "../../../src/testing/model-server/ledger.ts";
import type { Answer } from "../../../src/testing/model-server/script.ts";
import { createTestAgent, type TestAgentOptions } from "../../../src/testing/test-agent.ts";
import type { SuiteResult } from "../../../src/workflows/suite-input.ts";
import { connectClient } from "./test-client.ts";
import type { TestEnvironment } from "./test-environment.ts";

let suites = 0;

/** The answers to questions that begin with a text. A conversation that matches none is answered with `done`. */
export type Script = Readonly<Record<string, Answer | readonly Answer[]>>;

/** A suite of one test: its questions begin with a mark, by which its requests are found. */
export class TestSuite {
  readonly mark: string;
  readonly #stage: TestEnvironment;

  constructor(stage: TestEnvironment) {
    suites += 1;
    this.#stage = stage;
    this.mark = `mark-${process.pid}-${suites}`;
  }

  /** Answers the questions that `ask` has marked. */
  script(answers: Script): void {
    this.#stage.model.script({
      conversations: Object.entries(answers).map(([question, reply]) => ({
        match: ({ firstUserText }: { readonly firstUserText: string }) =>
          firstUserText.startsWith(this.ask(question)),
        replies: Array.isArray(reply) ? [...(reply as Answer[])] : [reply as Answer],
      })),
    });
  }

  ask(question: string): string {
    return `${this.mark} ${question}`;
  }

  /** Cases that ask questions; a text that is equal to the id is expected. */
  cases(...questions: readonly string[]): CaseInput[] {
    return questions.map((id) => ({ id, input: this.ask(id), expected: id }));
  }

  agent(options: TestAgentOptions = {}): AgentDefinitionInput {
    const { model, ...rest } = options;
    return createTestAgent(this.#stage.model, {
      ...rest,
      model: { cost: { input: 10, output: 10 }, ...model },
    });
  }

  define(input: Partial<SuiteInput> & Pick<SuiteInput, "cases">): ReturnType<typeof defineSuite> {
    const scorers: readonly ScorerInput[] = [{ type: "includes" }];
    return defineSuite({
      name: this.mark,
      configurations: [{ agent: this.agent() }],
      scorers,
      ...input,
    });
  }

  /** A client that is closed after the test. */
  async connect(settings?: Parameters<typeof connectClient>[1]) {
    const client = await connectClient(this.#stage, settings);
    onTestFinished(() => client.close());
    return client;
  }

  async start(
    input: Partial<SuiteInput> & Pick<SuiteInput, "cases">,
    options?: RunSuiteOptions,
  ): Promise<SuiteRun> {
    const client = await this.connect();
    return await client.evaluations.start(this.define(input), options);
  }

  async run(
    input: Partial<SuiteInput> & Pick<SuiteInput, "cases">,
    options?: RunSuiteOptions,
  ): Promise<{ readonly run: SuiteRun; readonly result: SuiteResult; readonly cells: readonly SuiteCell[] }> {
    const run = await this.start(input, options);
    const result = await run.result();
    return { run, result, cells: await listCells(run) };
  }

  /** The requests of this suite, in the order of their arrival. */
  listRequests(question = ""): readonly RecordedRequest[] {
    return this.#stage.model.requests.filter(({ body }) => JSON.stringify(body).includes(this.ask(question)));
  }
}

export async function listCells(run: SuiteRun): Promise<SuiteCell[]> {
  const cells: SuiteCell[] = [];
  for await (const cell of run.cells()) cells.push(cell);
  return cells;
}

/** The scores of cells, in their order. */
export function listScores(cells: readonly SuiteCell[]): readonly (number | null)[] {
  return cells.flatMap(({ scores }) => scores.map(({ score }) => score.value));
}
