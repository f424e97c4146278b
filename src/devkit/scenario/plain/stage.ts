import { tmpdir } from "node:os";
import { buildChildDefinition } from "../../../activities/open-loop/child-definitions.ts";
import type { RunHookCommand } from "../../../core/machine/state/activity-command.ts";
import type { CompactionStrategy } from "../../../hooks/compaction-strategy.ts";
import { FilterRegistry } from "../../../hooks/filters.ts";
import { HookRegistry } from "../../../hooks/hook-registry.ts";
import { NamedRegistry } from "../../../hooks/named-registry.ts";
import { Outages } from "../../../models/outages.ts";
import { ProviderRegistry } from "../../../models/provider-registry.ts";
import type { SecretSource } from "../../../models/secrets.ts";
import type { Logger } from "../../../platform/log.ts";
import { BUILT_IN_STRATEGIES } from "../../../schema/context.ts";
import { AgentDefinition } from "../../../schema/definition.ts";
import { getMessageText } from "../../../schema/message-text.ts";
import type { Outcome } from "../../../schema/record.ts";
import { SandboxSettings } from "../../../schema/sandbox.ts";
import { createReadFullMessageTool } from "../../../tools/builtin/read-full-message-tool.ts";
import { createViewTools } from "../../../tools/builtin/view-tools.ts";
import { Sandboxes } from "../../../tools/sandbox/sandboxes.ts";
import { ToolRegistry } from "../../../tools/tool-registry.ts";
import { buildDefinition } from "../definition.ts";
import { createHook, HookScript } from "../hook-script.ts";
import { createFilter } from "../input-filter.ts";
import { MemoryTranscript } from "../memory-transcript.ts";
import type { RanCall, ScheduleStep, SentRequest } from "../play-result.ts";
import { createTool } from "../scenario-tool.ts";
import type { Scenario, ScenarioSubAgent } from "../schema.ts";
import { Machine } from "./machine.ts";
import { People } from "./people.ts";
import { Results } from "./results.ts";
import { PlainVendor, type StageVendor } from "./vendor.ts";

/** The session id of a scenario without a server. */
const SESSION = "scenario";

const SILENT: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Returns the step that calls hooks, as an activity does. */
export function toStep({ number, session }: Pick<RunHookCommand, "number" | "session">) {
  return { session, run: "run", number };
}

/** The position of a sub-agent in its tree. */
export type Place = {
  readonly caller: Stage;
  readonly session: string;
  readonly call: string;
  readonly part: ScenarioSubAgent;
  /** Resolves when the first request, which the vendor then has, may be answered. */
  readonly admitted: () => Promise<void>;
};

/** The recorded events so far, in order. */
export type Notes = {
  readonly schedule: { push(step: ScheduleStep): unknown };
  readonly sent: SentRequest[];
  /** The same requests as on the wire. */
  readonly bodies: Readonly<Record<string, unknown>>[];
  /** The steps as a transcript lists them, without tool calls. */
  readonly steps: { readonly kind: string; readonly number: number }[];
  readonly ran: RanCall[];
  readonly refused: string[];
  continuedAsNew: number;
};

/** Definitions by their hashes. */
type Definitions = Pick<ReadonlyMap<string, AgentDefinition>, "get">;

/** Overrides of a stage's scenario, for tests that drive it step by step. */
export type StageParts = {
  readonly session?: string;
  readonly definition?: AgentDefinition;
  readonly definitionHash?: string;
  /** Other definitions to which the run can be updated, by their hashes. */
  readonly definitions?: Definitions;
  readonly tools?: ToolRegistry;
  readonly vendor?: StageVendor;
  /** An existing session that continues. */
  readonly transcript?: MemoryTranscript;
  readonly nowMs?: number;
};

/**
 * All dependencies without a server, with the property names of the activities' dependencies, so that shared code can
 * use them.
 */
export class Stage {
  readonly scenario: Scenario;
  readonly definitions: Definitions;
  readonly tools: ToolRegistry;
  readonly filters = new FilterRegistry();
  readonly hooks = new HookRegistry();
  readonly place: Place | undefined;
  readonly compactions = new NamedRegistry<CompactionStrategy>(
    "compaction strategy",
    {},
    BUILT_IN_STRATEGIES,
  );
  readonly outages = new Outages();
  readonly providers = new ProviderRegistry();
  readonly secrets: SecretSource = () => undefined;
  readonly log = SILENT;
  /** The folder against which paths and commands are resolved; nothing is written. */
  readonly defaultWorkspace = tmpdir();
  /** Scenarios come from files that the user has chosen. */
  readonly sandboxes = new Sandboxes({
    fallback: SandboxSettings.parse({ mode: "off" }),
    holdfastHome: tmpdir(),
    environment: process.env,
  });
  readonly session: string;
  readonly transcript: MemoryTranscript;
  readonly machine: Machine;
  readonly results: Results;
  readonly schedule: ScheduleStep[] = [];
  readonly notes: Notes;
  /** Runs of sub-agents, in the order of their calls. */
  readonly subAgents: { readonly name: string; readonly call: string; readonly stage: Stage }[] = [];
  /** Shared by all sessions of the tree. */
  readonly transcripts: Map<string, MemoryTranscript>;
  /** The number of requests of each agent of the tree, across all of its runs, which selects its next reply. */
  readonly requests: Map<string, { count: number }>;
  /** The agent's path in its tree; empty for the scenario's own agent. */
  readonly path: string;
  readonly hookScript: HookScript;
  readonly people: People;
  /** The outcome of a sub-agent's run. */
  end: Outcome | undefined;
  readonly vendor: StageVendor;
  #definition: AgentDefinition;
  #definitionHash: string;

  constructor(whole: Scenario, place?: Place, parts: StageParts = {}) {
    const scenario = place === undefined ? whole : { ...whole, hooks: [], ...selectPart(place.part) };
    const caller = place?.caller;
    this.scenario = scenario;
    this.place = place;
    this.#definition =
      parts.definition ??
      (place === undefined
        ? AgentDefinition.parse(buildDefinition(scenario, "http://127.0.0.1:1"))
        : buildPartDefinition(place));
    this.#definitionHash = parts.definitionHash ?? "scenario";
    this.definitions = parts.definitions ?? new Map();
    this.session = place?.session ?? parts.session ?? SESSION;
    this.path = place === undefined ? "" : `${place.caller.path}/${place.part.name}`;
    this.machine = new Machine(caller?.machine.nowMs ?? parts.nowMs);
    this.transcripts = caller?.transcripts ?? new Map();
    this.requests = caller?.requests ?? new Map();
    const fresh = () =>
      new MemoryTranscript(this.session, ({ session, branch, position }) => {
        const message = this.transcripts.get(session)?.getMessage(branch, position);
        return message?.role === "assistant" ? getMessageText(message) : undefined;
      });
    this.transcript = parts.transcript ?? fresh();
    this.results = new Results(this.machine, this.transcript);
    this.transcripts.set(this.session, this.transcript);
    this.notes = {
      schedule: place === undefined ? this.schedule : buildSchedule(place),
      sent: [],
      bodies: [],
      steps: [],
      ran: caller?.notes.ran ?? [],
      refused: [],
      continuedAsNew: 0,
    };
    this.tools = parts.tools ?? createTools(scenario);
    for (const filter of scenario.filters) this.filters.register(filter.name, createFilter(filter));
    this.hookScript = new HookScript(scenario.hooks, {
      countEvents: () => this.transcript.eventCount,
      onHang: (ms) => this.machine.pass(ms),
    });
    for (const { name } of scenario.hooks) {
      const listens = createHook((...asked) => this.hookScript.ask(name, ...asked));
      this.hooks.register(name, listens);
    }
    this.people = new People(scenario.arrives, this.machine, this.notes);
    this.vendor = parts.vendor ?? new PlainVendor(scenario.model, this);
    this.providers.register(this.vendor);
  }

  get definition(): AgentDefinition {
    return this.#definition;
  }

  get definitionHash(): string {
    return this.#definitionHash;
  }

  moveTo(definition: AgentDefinition, hash: string): void {
    this.#definition = definition;
    this.#definitionHash = hash;
  }

  /** Performs a step that only writes; it is blocked while something arrives. */
  hold(step: "open" | "close"): void {
    const { nth, sent } = this.people.due(step);
    if (sent.length === 0) return;
    this.note({ type: "held", step, nth });
    this.people.arrive(sent);
    this.note({ type: "let-go", step, nth });
  }

  note(step: ScheduleStep): void {
    this.notes.schedule.push(step);
  }

  noteStep({ type, number }: { readonly type: string; readonly number: number }): void {
    this.notes.steps.push({ kind: type, number });
  }
}

/** Returns the tools of a scenario's agents: its own tools and the view tools. */
function createTools({ tools }: Pick<Scenario, "tools">): ToolRegistry {
  return new ToolRegistry([
    ...createViewTools(),
    createReadFullMessageTool(),
    ...tools.map((tool) => createTool(tool, () => "")),
  ]);
}

function selectPart({ agent, model, arrives, subAgents }: ScenarioSubAgent) {
  return { agent, model, arrives, subAgents };
}

function buildPartDefinition({ caller, part }: Place): AgentDefinition {
  const found = caller.definition.subAgents?.find(({ name }) => name === part.name);
  if (found === undefined) throw new Error(`The sub-agent ${part.name} does not exist`);
  return buildChildDefinition(caller.definition, found);
}

function buildSchedule({ caller, call, part: { name } }: Place): Notes["schedule"] {
  return { push: (step) => caller.note({ type: "child", call, name, step }) };
}
