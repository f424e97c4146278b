import { z } from "zod";
import {
  ApprovalSettings,
  NudgeSettings,
  RepeatSettings,
  RevertSettings,
} from "../../../schema/definition.ts";
import { PermissionPolicy, PermissionRule } from "../../../schema/permission.ts";
import {
  allowNone,
  defineField,
  describeKey,
  type Field,
  integerFrom,
  NONE_AS_NULL,
  withExpected,
} from "../define-field.ts";

// What an agent may call, who is asked about it, and what its last answer must be (CFG-20).

const POLICY = PermissionPolicy.parse({});
const APPROVALS = ApprovalSettings.parse({});
const NUDGES = NudgeSettings.parse({});
const REPEATS = RepeatSettings.parse({});
const REVERT = RevertSettings.parse({});

export const BATCH_SIZE = 3;
const TOOL_STRATEGIES = ["sequential", "parallel", "batched"] as const;

const ToolNames = z.array(z.string());

const OutputSchema = withExpected(
  z.union([z.record(z.string(), z.unknown()), z.string()]),
  "a JSON Schema as a table, as JSON in a text, or file:PATH",
);

export const BEHAVIOR_FIELDS: readonly Field[] = [
  defineField("tools.enabled", "tools", describeKey(ToolNames, "Names of tools that the worker has.", [])),
  defineField(
    "tools.strict",
    "strict",
    describeKey(z.boolean(), "A tool that the worker does not have is an error; else it is left out.", false),
  ),
  defineField(
    "tools.tool_strategy",
    "toolStrategy.type",
    describeKey(
      z.enum(TOOL_STRATEGIES),
      "How the calls of one answer run: one by one, all at once, or some at a time.",
      "parallel",
    ),
  ),
  defineField(
    "tools.batch_size",
    "toolStrategy.size",
    describeKey(integerFrom(1), "Calls at a time, for `batched`.", BATCH_SIZE),
  ),
  defineField(
    "tools.timeout_ms",
    "toolTimeoutMs",
    describeKey(allowNone(integerFrom(1)), "For tools that have no time limit of their own.", "none"),
    NONE_AS_NULL,
  ),
  defineField(
    "tools.snapshots",
    "snapshots",
    describeKey(
      z.enum(["git"]),
      "Keeps what the workspace holds with each turn, in a hidden reference of its git repository.",
      "none",
    ),
  ),
  defineField(
    "permissions.rules",
    "permissions.rules",
    describeKey(
      z.array(PermissionRule),
      "In order; the first rule that matches decides. See docs/approvals.md.",
      [],
    ),
  ),
  defineField(
    "permissions.otherwise",
    "permissions.otherwise",
    describeKey(
      PermissionPolicy.shape.otherwise.unwrap(),
      "What is decided where no rule matches.",
      POLICY.otherwise,
    ),
  ),
  defineField(
    "approvals.timeout_ms",
    "approvals.timeoutMs",
    describeKey(allowNone(integerFrom(1)), "After this a call that waits for a person is refused.", "none"),
    NONE_AS_NULL,
  ),
  defineField(
    "approvals.counts_as_duration",
    "approvals.countsAsDuration",
    describeKey(
      z.boolean(),
      "Waiting for a person counts for max_duration_secs.",
      APPROVALS.countsAsDuration,
    ),
  ),
  defineField(
    "nudges.enabled",
    "nudges.enabled",
    describeKey(z.boolean(), "A model that announces a call and makes none is told so.", NUDGES.enabled),
  ),
  defineField("nudges.max", "nudges.max", describeKey(integerFrom(0), "In a row.", NUDGES.max)),
  defineField(
    "repeated_failures.tell_after",
    "repeatedFailures.tellAfter",
    describeKey(
      integerFrom(1),
      "After so many answers with a call that fails in the same way, the model is told plainly.",
      REPEATS.tellAfter,
    ),
  ),
  defineField(
    "repeated_failures.end_after",
    "repeatedFailures.endAfter",
    describeKey(
      allowNone(integerFrom(1)),
      "After so many of them the loop ends, or a person is asked.",
      REPEATS.endAfter ?? "none",
    ),
    NONE_AS_NULL,
  ),
  defineField(
    "repeated_failures.action",
    "repeatedFailures.action",
    describeKey(
      RepeatSettings.shape.action.unwrap(),
      "What happens then: the loop ends, or a person says.",
      REPEATS.action,
    ),
  ),
  defineField(
    "revert.shown_for_turns",
    "revert.shownForTurns",
    describeKey(
      integerFrom(0, 100),
      "Turns that a lesson or a finding of the tool revert_to_state is shown for.",
      REVERT.shownForTurns,
    ),
  ),
  defineField(
    "revert.newest_of_kind",
    "revert.newestOfKind",
    describeKey(
      integerFrom(0, 20),
      "The newest of a kind are shown however old they are.",
      REVERT.newestOfKind,
    ),
  ),
  defineField(
    "redact.tool_output",
    "redact.toolOutput",
    describeKey(
      z.boolean(),
      "What looks like a key is left out of tool results, for the record as for the model.",
      false,
    ),
  ),
  defineField(
    "session.scope",
    "sessionScope",
    describeKey(
      z.enum(["ephemeral", "persistent"]),
      "Of its sessions; no retention policy takes persistent ones. A sub-agent's go with those of its caller.",
      "ephemeral",
    ),
  ),
  defineField(
    "output.type",
    "output.type",
    describeKey(
      z.enum(["text", "json", "json-schema"]),
      "What the last answer must be; json-schema where a schema is given.",
    ),
  ),
  defineField(
    "output.schema",
    "output.schema",
    describeKey(OutputSchema, "The JSON Schema; its root is an object."),
  ),
  defineField(
    "output.name",
    "output.name",
    describeKey(z.string(), "What the vendor calls it.", "final_answer"),
  ),
  defineField(
    "output.strict",
    "output.strict",
    describeKey(
      z.boolean(),
      "Asks the vendor to keep to the schema word by word; wherever it can, unless said.",
    ),
  ),
];
