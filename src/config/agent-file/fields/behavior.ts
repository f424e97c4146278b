import { z } from "zod";
import { ApprovalSettings } from "../../../schema/definition.ts";
import { OutputRecovery } from "../../../schema/output.ts";
import { PermissionPolicy, PermissionRule } from "../../../schema/permission.ts";
import { NudgeSettings, RepeatSettings, RevertSettings } from "../../../schema/recovery.ts";
import {
  allowNone,
  defineField,
  describeKey,
  type Field,
  integerFrom,
  NONE_AS_NULL,
  withExpected,
} from "../define-field.ts";

// The tools of an agent, approvals, and the format of its final answer (CFG-20).

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
  defineField(
    "tools.enabled",
    "tools",
    describeKey(ToolNames, "Names of tools; the worker must have registered them.", []),
  ),
  defineField(
    "tools.strict",
    "strict",
    describeKey(
      z.boolean(),
      "A tool that the worker does not have is an error; otherwise it is left out.",
      false,
    ),
  ),
  defineField(
    "tools.tool_strategy",
    "toolStrategy.type",
    describeKey(
      z.enum(TOOL_STRATEGIES),
      "How the calls of one answer run: one by one, all at once, or in batches.",
      "parallel",
    ),
  ),
  defineField(
    "tools.batch_size",
    "toolStrategy.size",
    describeKey(integerFrom(1), "The size of a batch, for `batched`.", BATCH_SIZE),
  ),
  defineField(
    "tools.timeout_ms",
    "toolTimeoutMs",
    describeKey(allowNone(integerFrom(1)), "The time limit of tools that have none of their own.", "none"),
    NONE_AS_NULL,
  ),
  defineField(
    "tools.snapshots",
    "snapshots",
    describeKey(
      z.enum(["git"]),
      "Stores a snapshot of the workspace with each turn, in a hidden reference of its git repository.",
      "none",
    ),
  ),
  defineField(
    "permissions.rules",
    "permissions.rules",
    describeKey(
      z.array(PermissionRule),
      "Checked in order; the first rule that matches decides. See docs/approvals.md.",
      [],
    ),
  ),
  defineField(
    "permissions.otherwise",
    "permissions.otherwise",
    describeKey(
      PermissionPolicy.shape.otherwise.unwrap(),
      "The decision if no rule matches.",
      POLICY.otherwise,
    ),
  ),
  defineField(
    "approvals.timeout_ms",
    "approvals.timeoutMs",
    describeKey(
      allowNone(integerFrom(1)),
      "After this time a call that waits for approval is denied.",
      "none",
    ),
    NONE_AS_NULL,
  ),
  defineField(
    "approvals.counts_as_duration",
    "approvals.countsAsDuration",
    describeKey(
      z.boolean(),
      "The time that a call waits for approval counts towards max_duration_secs.",
      APPROVALS.countsAsDuration,
    ),
  ),
  defineField(
    "nudges.enabled",
    "nudges.enabled",
    describeKey(z.boolean(), NudgeSettings.shape.enabled.description, NUDGES.enabled),
  ),
  defineField(
    "nudges.max",
    "nudges.max",
    describeKey(integerFrom(0), NudgeSettings.shape.max.description, NUDGES.max),
  ),
  defineField(
    "repeated_failures.warn_after",
    "repeatedFailures.warnAfter",
    describeKey(integerFrom(1), RepeatSettings.shape.warnAfter.description, REPEATS.warnAfter),
  ),
  defineField(
    "repeated_failures.end_after",
    "repeatedFailures.endAfter",
    describeKey(
      allowNone(integerFrom(1)),
      "After this many of them the loop ends, or a user is asked.",
      REPEATS.endAfter ?? "none",
    ),
    NONE_AS_NULL,
  ),
  defineField(
    "repeated_failures.action",
    "repeatedFailures.action",
    describeKey(
      RepeatSettings.shape.action.unwrap(),
      RepeatSettings.shape.action.description,
      REPEATS.action,
    ),
  ),
  defineField(
    "revert.shown_for_turns",
    "revert.shownForTurns",
    describeKey(
      integerFrom(0, 100),
      "The number of turns for which the model sees a lesson or a finding of the tool revert_to_state.",
      REVERT.shownForTurns,
    ),
  ),
  defineField(
    "revert.newest_of_kind",
    "revert.newestOfKind",
    describeKey(
      integerFrom(0, 20),
      "The number of newest lessons and findings of each kind that the model always sees, at any age.",
      REVERT.newestOfKind,
    ),
  ),
  defineField(
    "redact.tool_output",
    "redact.toolOutput",
    describeKey(
      z.boolean(),
      "Removes text that looks like a key from tool results, both in the record and for the model.",
      false,
    ),
  ),
  defineField(
    "session.scope",
    "sessionScope",
    describeKey(
      z.enum(["ephemeral", "persistent"]),
      "The scope of its sessions. No retention policy deletes persistent ones. A sub-agent's sessions are deleted with those of its caller.",
      "ephemeral",
    ),
  ),
  defineField(
    "session.titles",
    "titles",
    describeKey(
      z.enum(["first-words", "model"]),
      "What gives a session its title: the first words of its first prompt, or the model, with one more small request after the first answer.",
      "first-words",
    ),
  ),
  defineField(
    "output.type",
    "output.type",
    describeKey(
      z.enum(["text", "json", "json-schema"]),
      "The format of the final answer; json-schema by default if a schema is given.",
    ),
  ),
  defineField(
    "output.schema",
    "output.schema",
    describeKey(OutputSchema, "The JSON Schema; its root must be an object."),
  ),
  defineField(
    "output.name",
    "output.name",
    describeKey(z.string(), "Its name at the vendor.", "final_answer"),
  ),
  defineField(
    "output.strict",
    "output.strict",
    describeKey(
      z.boolean(),
      "Asks the vendor to enforce the schema strictly; by default wherever the vendor supports it.",
    ),
  ),
  defineField(
    "output.recovery",
    "output.recovery",
    describeKey(
      OutputRecovery,
      "Whether an answer that does not match is repaired, where only one value can be meant, before it is requested again.",
      "strict",
    ),
  ),
];
