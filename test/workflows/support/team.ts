import type { z } from "zod";
import type { Link } from "../../../src/client/connection/link.ts";
import { startJob } from "../../../src/client/runs/start-job.ts";
import { Storage } from "../../../src/client/sessions/storage.ts";
import { homeAt } from "../../../src/config/home.ts";
import type { TeamResult } from "../../../src/core/job/team-shown.ts";
import type { SupervisorMode } from "../../../src/schema/mode.ts";
import type { Reply } from "../../../src/testing/model-server/reply.ts";
import type { TestAgentOptions } from "../../../src/testing/test-agent.ts";
import { statusQuery } from "../../../src/workflows/messages.ts";
import type { Session } from "./session.ts";
import type { Stage } from "./temporal.ts";

type Replies = readonly Reply[];
type Options = Pick<z.input<typeof SupervisorMode>, "limits" | "maxAgents"> & {
  readonly lead?: TestAgentOptions;
  readonly agent?: TestAgentOptions;
};

export const linkTo = (stage: Stage): Link => ({
  client: stage.client,
  connection: stage.client.connection as Link["connection"],
  address: stage.address,
  namespace: stage.namespace,
  taskQueue: stage.taskQueue,
  storage: new Storage(homeAt(stage.home), { transcript: stage.transcript, hub: undefined }),
  searchAttributes: true,
  settings: {},
});

/** A lead with named agents: what each says, by name. */
export class Team {
  readonly job: string;
  readonly #stage: Stage;
  readonly #lead: Session;
  readonly #members: readonly { readonly name: string; readonly session: Session }[];
  readonly #options: Options;

  constructor(stage: Stage, lead: Replies, agents: Readonly<Record<string, Replies>>, options: Options = {}) {
    this.#stage = stage;
    this.#options = options;
    // One after the other: ids are then given in the order of the calls.
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
    await startJob(linkTo(this.#stage), { mode, task, job: this.job });
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
  asked(name?: string) {
    const of = name === undefined ? this.#lead : this.#members.find((one) => one.name === name)?.session;
    return of?.requests() ?? [];
  }

  /** Texts of tool results in a session of the job, in order. */
  async results(part = "lead"): Promise<readonly string[]> {
    const entries = await this.#stage.transcript.entries(`${this.job}.${part}`, "main", 0, 999);
    return entries.flatMap(({ message }) =>
      message.role === "toolResult"
        ? [message.content.flatMap((one) => (one.type === "text" ? [one.text] : [])).join("")]
        : [],
    );
  }
}
