import type { ModelRequest, Provider } from "../../../providers/provider.ts";
import type { AgentDefinition } from "../../../schema/definition.ts";
import type { AssistantMessage } from "../../../schema/message.ts";
import type { ScenarioReply } from "../schema.ts";
import { offeredTools, sentMessages } from "../sent.ts";
import { answerOf, requestBody } from "../vendor.ts";
import { Interrupted } from "./interrupted.ts";
import type { Machine } from "./machine.ts";
import type { People } from "./people.ts";
import type { Notes } from "./stage.ts";

/** For whom a request is made. */
type Asker = { readonly loop: number; readonly turn: number; readonly for: "answer" | "summary" };

/** The scripted vendor: one reply a request, in order, whoever asks. */
export class PlainVendor implements Provider {
  readonly id = "scenario";
  readonly protocol = "anthropic_messages";
  readonly outputRoad = () => "final-tool" as const;
  asker: Asker = { loop: 0, turn: 0, for: "answer" };
  readonly #replies: readonly ScenarioReply[];
  readonly #definition: AgentDefinition;
  readonly #machine: Machine;
  readonly #people: People;
  readonly #notes: Notes;
  #requests = 0;

  constructor(
    replies: readonly ScenarioReply[],
    definition: AgentDefinition,
    machine: Machine,
    people: People,
    notes: Notes,
  ) {
    this.#replies = replies;
    this.#definition = definition;
    this.#machine = machine;
    this.#people = people;
    this.#notes = notes;
  }

  /** Requests so far. */
  get requests(): number {
    return this.#requests;
  }

  /** Rejects with `Interrupted` when a stop or the worker's death comes first. */
  async stream(request: ModelRequest): Promise<AssistantMessage> {
    const { schedule, sent, bodies } = this.#notes;
    const nth = this.#requests++;
    const body = requestBody(request);
    bodies.push(body);
    sent.push({ ...this.asker, messages: sentMessages(body), tools: offeredTools(body) });
    schedule.push({ type: "asked" });
    this.#people.arrive(this.#people.due("model").sent);
    if (this.#people.hasCrashed()) {
      schedule.push({ type: "worker-lost", calls: [], asked: this.#requests });
      throw new Interrupted("lost");
    }
    if (this.#machine.isStopped) {
      schedule.push({ type: "unanswered" });
      throw new Interrupted("cancelled");
    }
    const reply = this.#replies[nth] ?? { text: "done" };
    schedule.push({ type: "answered", reply, nth });
    this.#machine.pass(reply.takesMs ?? 0);
    return answerOf(reply, nth, body, this.#definition, this.#machine.nowMs);
  }
}
