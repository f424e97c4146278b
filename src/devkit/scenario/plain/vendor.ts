import type { ModelRequest, Provider } from "../../../models/provider.ts";
import type { AssistantMessage } from "../../../schema/message.ts";
import { buildAnswer, buildRequestBody, getCallerId, getFirstUserText } from "../in-process-vendor.ts";
import type { ScenarioReply } from "../schema.ts";
import { listToolNames, parseSentMessages } from "../sent-message.ts";
import { Interrupted } from "./interrupted.ts";
import type { Stage } from "./stage.ts";

/** The origin of a request. */
type Asker = {
  readonly loop: number;
  readonly turn: number;
  /** The number of the command. */
  readonly number: number;
  readonly for: "answer" | "summary";
};

/** The vendor of a stage. */
export type StageVendor = Provider & {
  asker: Asker;
  /** The number of requests so far. */
  readonly requests: number;
  stream(request: ModelRequest): Promise<AssistantMessage>;
};

type Asking = Pick<Stage, "notes" | "people" | "machine" | "definition" | "place" | "path" | "requests">;

/** The scripted vendor: one reply for each request, in order, for every requester. */
export class PlainVendor implements StageVendor {
  readonly id = "scenario";
  readonly protocol = "anthropic_messages";
  readonly selectOutputMode = () => "final-tool" as const;
  asker: Asker = { loop: 0, turn: 0, number: 0, for: "answer" };
  readonly #replies: readonly ScenarioReply[];
  readonly #stage: Asking;
  readonly #requests: { count: number };
  #isAdmitted = false;

  constructor(replies: readonly ScenarioReply[], stage: Asking) {
    this.#replies = replies;
    this.#stage = stage;
    const { requests, path } = stage;
    this.#requests = requests.get(path) ?? { count: 0 };
    requests.set(path, this.#requests);
  }

  /** The number of requests so far. */
  get requests(): number {
    return this.#requests.count;
  }

  /** Rejects with `Interrupted` if a stop or the worker's death comes first. */
  async stream(request: ModelRequest): Promise<AssistantMessage> {
    const { notes, people, machine, definition, place, path } = this.#stage;
    const { schedule, sent, bodies } = notes;
    const body = buildRequestBody(request);
    bodies.push(body);
    const { loop, turn, for: purpose } = this.asker;
    sent.push({ loop, turn, for: purpose, messages: parseSentMessages(body), tools: listToolNames(body) });
    schedule.push({ type: "asked", firstUserText: getFirstUserText(body) });
    if (!this.#isAdmitted) await place?.admitted();
    this.#isAdmitted = true;
    const nth = this.#requests.count++;
    people.arrive(people.due("model").sent);
    if (people.hasCrashed()) {
      schedule.push({ type: "worker-lost", calls: [], asked: this.requests });
      throw new Interrupted("lost");
    }
    if (machine.isStopped) {
      schedule.push({ type: "unanswered" });
      throw new Interrupted("cancelled");
    }
    const reply = this.#replies[nth] ?? { text: "done" };
    schedule.push({ type: "answered", reply, nth });
    machine.pass(reply.takesMs ?? 0);
    return buildAnswer(reply, nth, body, definition, machine.nowMs, getCallerId(path));
  }
}
