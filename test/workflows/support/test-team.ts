import type { z } from "zod";
import type { ClientLink } from "../../../src/client/connection/client-link.ts";
import { startJob } from "../../../src/client/runs/start-job.ts";
import { Storage } from "../../../src/client/sessions/storage.ts";
import { resolveHome } from "../../../src/config/home.ts";
import type { TeamResult } from "../../../src/core/job/team-status.ts";
import type { SupervisorMode } from "../../../src/schema/mode.ts";
import type { Reply } from "../../../src/testing/model-server/reply.ts";
import type { TestAgentOptions } from "../../../src/testing/test-agent.ts";
import { statusQuery } from "../../../src/workflows/messages.ts";
import type { TestEnvironment } from "./test-environment.ts";
import type { TestSession } from "./test-session.ts";

type Replies = readonly Reply[];
type Options = Pick<z.input<typeof SupervisorMode>, "limits" | "maxAgents"> & {
  readonly lead?: TestAgentOptions;
  readonly agent?: TestAgentOptions;
};

export const createLink = (stage: TestEnvironment): ClientLink => ({
  client: stage.client,
  connection: stage.client.connection as ClientLink["connection"],
  address: stage.address,
  namespace: stage.namespace,
  taskQueue: stage.taskQueue,
  storage: new Storage(resolveHome(stage.home), { transcript: stage.transcript, hub: undefined }),
  searchAttributes: true,
  settings: {},
});

/** A lead with named agents: the answers of each, by name. */
export class TestTeam {
  readonly job: string;
  readonly #stage: TestEnvironment;
  readonly #lead: TestSession;
  readonly #members: readonly { readonly name: string; readonly session: TestSession }[];
  readonly #options: Options;

  constructor(
    stage: TestEnvironment,
    lead: Replies,
    agents: Readonly<Record<string, Replies>>,
    options: Options = {},
  ) {
    this.#stage = stage;
    this.#options = options;
    // One after the other, so that ids follow the order of the calls.
    this.#lead = stage.session({ agent: { toolStrategy: { type: "sequential" }, ...options.lead } });
    this.job = this.#lead.id;
    const agent = options.agent ?? { tools: ["list_files"] };
    const members = Object.entries(agents).map(([name, replies]) => ({
      name,
      replies,
      session: stage.session({ agent: { description: `Does what ${name} does`, ...agent } }),
    }));
    const says = (id: string, replies: Replies) => ({
      match: ({ conversation }: { readonly conversation: string }) => conversation === id,
      replies: [...replies],
    });
    stage.model.script({
      conversations: [
        says(this.job, lead),
        ...members.map(({ session, replies }) => says(session.id, replies)),
      ],
    });
    this.#members = members;
  }

  async start(task = "Go"): Promise<void> {
    const { lead: _, agent: __, ...limits } = this.#options;
    const agents = this.#members.map(({ name, session }) => ({ name, agent: session.definition }));
    const mode = { type: "supervisor" as const, lead: this.#lead.definition, agents, ...limits };
    await startJob(createLink(this.#stage), { mode, task, job: this.job });
  }

  get handle() {
    return this.#stage.client.workflow.getHandle(this.job);
  }

  result(): Promise<TeamResult> {
    return this.handle.result() as Promise<TeamResult>;
  }

  status() {
    return this.handle.query(statusQuery);
  }

  /** Requests of the lead, or of the agents of one name. */
  countRequests(name?: string) {
    const of = name === undefined ? this.#lead : this.#members.find((one) => one.name === name)?.session;
    return of?.listRequests() ?? [];
  }

  /** Texts of tool results in a session of the job, in order. */
  async readToolResults(part = "lead"): Promise<readonly string[]> {
    const entries = await this.#stage.transcript.readEntries(`${this.job}.${part}`, "main", 0, 999);
    return entries.flatMap(({ message }) =>
      message.role === "toolResult"
        ? [message.content.flatMap((one) => (one.type === "text" ? [one.text] : [])).join("")]
        : [],
    );
  }
}
