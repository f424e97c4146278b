import { z } from "zod";
import {
  ApprovalSettings,
  NudgeSettings,
  RepeatSettings,
  RevertSettings,
} from "../../../schema/definition.ts";
import { PermissionPolicy, PermissionRule } from "../../../schema/permission.ts";
import { expecting, type Field, field, NULLABLE, orNone, said, wholeFrom } from "../field.ts";

// What an agent may call, who is asked about it, and what its last answer must be (CFG-20).

const POLICY = PermissionPolicy.parse({});
const APPROVALS = ApprovalSettings.parse({});
const NUDGES = NudgeSettings.parse({});
const REPEATS = RepeatSettings.parse({});
const REVERT = RevertSettings.parse({});

export const BATCH_SIZE = 3;
const TOOL_STRATEGIES = ["sequential", "parallel", "batched"] as const;

const ToolNames = z.array(z.string());

const OutputSchema = expecting(
  z.union([z.record(z.string(), z.unknown()), z.string()]),
  "a JSON Schema as a table, as JSON in a text, or file:PATH",
);

export const CONDUCT_FIELDS: readonly Field[] = [
  field("tools.enabled", "tools", said(ToolNames, "Names of tools that the worker has.", [])),
  field(
    "tools.strict",
    "strict",
    said(z.boolean(), "A tool that the worker does not have is an error; else it is left out.", false),
  ),
  field(
    "tools.tool_strategy",
    "toolStrategy.type",
    said(
      z.enum(TOOL_STRATEGIES),
      "How the calls of one answer run: one by one, all at once, or some at a time.",
      "parallel",
    ),
  ),
  field(
    "tools.batch_size",
    "toolStrategy.size",
    said(wholeFrom(1), "Calls at a time, for `batched`.", BATCH_SIZE),
  ),
  field(
    "tools.timeout_ms",
    "toolTimeoutMs",
    said(orNone(wholeFrom(1)), "For tools that have no time limit of their own.", "none"),
    NULLABLE,
  ),
  field(
    "tools.snapshots",
    "snapshots",
    said(
      z.enum(["git"]),
      "Keeps what the workspace holds with each turn, in a hidden reference of its git repository.",
      "none",
    ),
  ),
  field(
    "permissions.rules",
    "permissions.rules",
    said(
      z.array(PermissionRule),
      "In order; the first rule that matches decides. See docs/approvals.md.",
      [],
    ),
  ),
  field(
    "permissions.otherwise",
    "permissions.otherwise",
    said(
      PermissionPolicy.shape.otherwise.unwrap(),
      "What is decided where no rule matches.",
      POLICY.otherwise,
    ),
  ),
  field(
    "approvals.timeout_ms",
    "approvals.timeoutMs",
    said(orNone(wholeFrom(1)), "After this a call that waits for a person is refused.", "none"),
    NULLABLE,
  ),
  field(
    "approvals.counts_as_duration",
    "approvals.countsAsDuration",
    said(z.boolean(), "Waiting for a person counts for max_duration_secs.", APPROVALS.countsAsDuration),
  ),
  field(
    "nudges.enabled",
    "nudges.enabled",
    said(z.boolean(), "A model that announces a call and makes none is told so.", NUDGES.enabled),
  ),
  field("nudges.max", "nudges.max", said(wholeFrom(0), "In a row.", NUDGES.max)),
  field(
    "repeated_failures.tell_after",
    "repeatedFailures.tellAfter",
    said(
      wholeFrom(1),
      "After so many answers with a call that fails in the same way, the model is told plainly.",
      REPEATS.tellAfter,
    ),
  ),
  field(
    "repeated_failures.end_after",
    "repeatedFailures.endAfter",
    said(
      orNone(wholeFrom(1)),
      "After so many of them the loop ends, or a person is asked.",
      REPEATS.endAfter ?? "none",
    ),
    NULLABLE,
  ),
  field(
    "repeated_failures.action",
    "repeatedFailures.action",
    said(
      RepeatSettings.shape.action.unwrap(),
      "What happens then: the loop ends, or a person says.",
      REPEATS.action,
    ),
  ),
  field(
    "revert.shown_for_turns",
    "revert.shownForTurns",
    said(
      wholeFrom(0, 100),
      "Turns that a lesson or a finding of the tool revert_to_state is shown for.",
      REVERT.shownForTurns,
    ),
  ),
  field(
    "revert.newest_of_kind",
    "revert.newestOfKind",
    said(wholeFrom(0, 20), "The newest of a kind are shown however old they are.", REVERT.newestOfKind),
  ),
  field(
    "redact.tool_output",
    "redact.toolOutput",
    said(
      z.boolean(),
      "What looks like a key is left out of tool results, for the record as for the model.",
      false,
    ),
  ),
  field(
    "session.scope",
    "sessionScope",
    said(
      z.enum(["ephemeral", "persistent"]),
      "Of its sessions; no retention policy takes persistent ones. A sub-agent's go with those of its caller.",
      "ephemeral",
    ),
  ),
  field(
    "output.type",
    "output.type",
    said(
      z.enum(["text", "json", "json-schema"]),
      "What the last answer must be; json-schema where a schema is given.",
    ),
  ),
  field("output.schema", "output.schema", said(OutputSchema, "The JSON Schema; its root is an object.")),
  field("output.name", "output.name", said(z.string(), "What the vendor calls it.", "final_answer")),
  field(
    "output.strict",
    "output.strict",
    said(z.boolean(), "Asks the vendor to keep to the schema word by word; wherever it can, unless said."),
  ),
];
