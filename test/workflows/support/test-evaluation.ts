import type { EvaluationPlan } from "../../../src/schema/evaluation.ts";
import type { Reply } from "../../../src/testing/model-server/reply.ts";
import type { TestAgentOptions } from "../../../src/testing/test-agent.ts";
import type { evaluation } from "../../../src/workflows/evaluation.ts";
import type { EvaluationRequest, EvaluationResult } from "../../../src/workflows/evaluation-input.ts";
import type { TestEnvironment } from "./test-environment.ts";
import type { TestSession } from "./test-session.ts";

export type EvaluatedAgent = { readonly replies: readonly Reply[]; readonly agent?: TestAgentOptions };

/** Several agents with the answers of each, and the session in which they are compared. */
export class TestEvaluation {
  readonly id: string;
  readonly agents: readonly TestSession[];
  readonly judge: TestSession | undefined;
  readonly #stage: TestEnvironment;

  constructor(stage: TestEnvironment, contestants: readonly EvaluatedAgent[], judge?: EvaluatedAgent) {
    this.#stage = stage;
    this.agents = contestants.map(({ replies, agent }, index) =>
      stage.session({ replies: [...replies], agent: { name: `agent-${index + 1}`, ...agent } }),
    );
    this.judge =
      judge === undefined
        ? undefined
        : stage.session({ replies: [...judge.replies], agent: { systemPrompt: "", ...judge.agent } });
    const said = [...contestants, ...(judge === undefined ? [] : [judge])];
    const all = [...this.agents, ...(this.judge === undefined ? [] : [this.judge])];
    stage.model.script({
      conversations: all.map(({ id }, index) => ({
        match: ({ conversation }: { readonly conversation: string }) => conversation === id,
        replies: [...(said[index]?.replies ?? [])],
      })),
    });
    this.id = `contest-${this.agents[0]?.id}`;
  }

  get handle() {
    return this.#stage.client.workflow.getHandle<typeof evaluation>(this.id);
  }

  createRequest(prompt: string | undefined, of: Partial<EvaluationRequest> = {}): EvaluationRequest {
    const strategy =
      this.judge === undefined
        ? { type: "pick-first" }
        : { type: "judge", judge: { definition: this.judge.definition } };
    return {
      ...(prompt === undefined ? {} : { prompt }),
      agents: this.agents.map(({ definition }) => ({ definition })),
      strategy,
      ...of,
    } as EvaluationRequest;
  }

  async start(prompt?: string, of: Partial<EvaluationRequest> = {}): Promise<void> {
    await this.#stage.client.workflow.start("evaluation", {
      workflowId: this.id,
      taskQueue: this.#stage.taskQueue,
      workflowTaskTimeout: "5 seconds",
      args: [this.createRequest(prompt, of)],
    });
  }

  async result(): Promise<EvaluationResult> {
    return (await this.handle.result()) as EvaluationResult;
  }

  async run(prompt?: string, of: Partial<EvaluationRequest> = {}): Promise<EvaluationResult> {
    await this.start(prompt, of);
    return await this.result();
  }

  /** The conversation of a branch, as `role: text`. */
  async readTexts(branch: string | undefined): Promise<string[]> {
    const entries = await this.#stage.transcript.readEntries(this.id, branch ?? "", 0, 1000);
    return entries.map(({ message }) => {
      const content = "content" in message ? message.content : [];
      const texts = (content as { type: string; text?: string }[]).map(({ text = "" }) => text);
      return `${message.role}: ${texts.join("")}`;
    });
  }
}

export type Strategy = EvaluationPlan["strategy"];
