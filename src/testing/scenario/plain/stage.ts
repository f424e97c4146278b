import { tmpdir } from "node:os";
import type { RunHookCommand } from "../../../core/command.ts";
import { BUILT_IN_STRATEGIES, type CompactionStrategy } from "../../../hooks/compaction-strategy.ts";
import { FilterRegistry } from "../../../hooks/filters.ts";
import { Named } from "../../../hooks/named.ts";
import { HookRegistry } from "../../../hooks/registry.ts";
import type { Logger } from "../../../observability/log.ts";
import { ProviderRegistry } from "../../../providers/registry.ts";
import type { SecretSource } from "../../../providers/secrets.ts";
import { AgentDefinition } from "../../../schema/definition.ts";
import { ToolRegistry } from "../../../tools/registry.ts";
import { viewTools } from "../../../tools/view/view-tools.ts";
import { definitionInput } from "../definition.ts";
import { filterOf } from "../filters.ts";
import { HookScript, hookOf } from "../hooks.ts";
import { MemoryTranscript } from "../memory-transcript.ts";
import type { RanCall, ScheduleStep, SentRequest } from "../played.ts";
import type { Scenario } from "../schema.ts";
import { toolOf } from "../tools.ts";
import { Machine } from "./machine.ts";
import { People } from "./people.ts";
import { PlainVendor } from "./vendor.ts";

/** The session of a scenario that is played without a server. */
export const SESSION = "scenario";

const SILENT: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Who asks hooks, in the words of an activity. */
export function stepOf({ number }: Pick<RunHookCommand, "number">) {
  return { session: SESSION, run: "run", number };
}

/** What has been seen so far, in the order in which it came. */
export type Notes = {
  readonly schedule: ScheduleStep[];
  readonly sent: SentRequest[];
  /** The same requests as they would go over the line. */
  readonly bodies: Readonly<Record<string, unknown>>[];
  /** Steps as a transcript would list them, calls of tools aside. */
  readonly steps: { readonly kind: string; readonly number: number }[];
  readonly ran: RanCall[];
  readonly refused: string[];
  continuedAsNew: number;
};

/**
 * All that plays a part without a server, by the names that activities have for theirs: what those share with the
 * plain driver takes it from here.
 */
export class Stage {
  readonly scenario: Scenario;
  readonly definition: AgentDefinition;
  readonly tools: ToolRegistry;
  readonly filters = new FilterRegistry();
  readonly hooks = new HookRegistry();
  readonly compactions = new Named<CompactionStrategy>("compaction strategy", {}, BUILT_IN_STRATEGIES);
  readonly providers = new ProviderRegistry();
  readonly secrets: SecretSource = () => undefined;
  readonly log = SILENT;
  /** Paths and commands are judged here; nothing is written. */
  readonly defaultWorkspace = tmpdir();
  readonly transcript = new MemoryTranscript(SESSION);
  readonly machine = new Machine();
  readonly notes: Notes = {
    schedule: [],
    sent: [],
    bodies: [],
    steps: [],
    ran: [],
    refused: [],
    continuedAsNew: 0,
  };
  readonly hookScript: HookScript;
  readonly people: People;
  readonly vendor: PlainVendor;

  constructor(scenario: Scenario) {
    this.scenario = scenario;
    this.definition = AgentDefinition.parse(definitionInput(scenario, "http://127.0.0.1:1"));
    this.tools = new ToolRegistry([...viewTools(), ...scenario.tools.map((tool) => toolOf(tool, () => ""))]);
    for (const filter of scenario.filters) this.filters.register(filter.name, filterOf(filter));
    this.hookScript = new HookScript(scenario.hooks, {
      written: () => this.transcript.written,
      hangs: (ms) => this.machine.pass(ms),
    });
    for (const { name } of scenario.hooks) {
      const listens = hookOf((...asked) => this.hookScript.ask(name, ...asked));
      this.hooks.register(name, listens);
    }
    this.people = new People(scenario.arrives, this.machine, this.notes);
    this.vendor = new PlainVendor(scenario.model, this.definition, this.machine, this.people, this.notes);
    this.providers.register(this.vendor);
  }

  note(step: ScheduleStep): void {
    this.notes.schedule.push(step);
  }

  noteStep({ type, number }: { readonly type: string; readonly number: number }): void {
    this.notes.steps.push({ kind: type, number });
  }
}
