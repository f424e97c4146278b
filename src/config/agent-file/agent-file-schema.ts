import { z } from "zod";
import { MAX_FALLBACKS } from "../../schema/definition.ts";
import { SubAgentLimits } from "../../schema/limits.ts";
import {
  buildShape,
  defineField,
  describeKey,
  describeRequiredKey,
  type Field,
  integerFrom,
  withExpected,
} from "./define-field.ts";
import { BEHAVIOR_FIELDS } from "./fields/behavior.ts";
import { COMPACTION_FIELDS } from "./fields/compaction.ts";
import { defineLimitFields, EXECUTION_FIELDS } from "./fields/execution.ts";
import { HOOK_FIELDS } from "./fields/hooks.ts";
import { MCP_FIELDS } from "./fields/mcp.ts";
import { MODEL_FIELDS } from "./fields/model.ts";
import { OPENAPI_FIELDS } from "./fields/openapi.ts";
import { PROFILE_FIELDS, SAMPLING_FIELDS } from "./fields/profile.ts";
import { SANDBOX_FIELDS } from "./fields/sandbox.ts";
import { SKILL_FIELDS } from "./fields/skills.ts";
import { ModeSection } from "./mode-schema.ts";

// The format of an agent file in TOML, YAML and JSON. `compose-agents.ts` gives it its meaning. The reference in
// docs/agents.md is generated from this schema.

/** Sections that apply to all agents of a file, or to one agent when they stand in its own table. */
export const SECTION_FIELDS: readonly Field[] = [
  ...BEHAVIOR_FIELDS,
  ...COMPACTION_FIELDS,
  ...EXECUTION_FIELDS,
  ...HOOK_FIELDS,
  ...MCP_FIELDS,
  ...OPENAPI_FIELDS,
  ...SANDBOX_FIELDS,
  ...SKILL_FIELDS,
];

/** What a caller sets for a sub-agent, besides its name and description. */
export const SUB_AGENT_CALL_FIELDS: readonly Field[] = [
  ...defineLimitFields("", "limits", SubAgentLimits.parse({})),
  defineField(
    "accepts_max_turns",
    "acceptsMaxTurns",
    describeKey(
      z.boolean(),
      "A call may set its own maximum of turns, 1 to 100, with the argument `max_turns`.",
      false,
    ),
  ),
];

const Sections = buildShape(SECTION_FIELDS) as Record<string, z.ZodOptional<z.ZodObject>>;

const defineReference = (to: string) =>
  withExpected(z.string().min(1), `the name of a ${to}, or {{${to}.NAME}}`);
const Id = withExpected(z.string().min(1), "a name, or {{NAME}}, {{%NAME%}}, {{#ID#}}");

const PROMPT =
  'The text, "file:PATH" (relative to the workspace), "{{system_prompt.NAME}}", or `{ text = … }` for a text that begins like one of these.';
const PromptText = withExpected(
  z.union([
    z.string(),
    z.strictObject({ text: describeRequiredKey(z.string(), "The text, which is taken as it is.") }),
  ]),
  'a text, "file:PATH", {{system_prompt.NAME}}, or {text = …}',
);
const prompt = describeKey(PromptText, PROMPT);
const workspace = describeKey(z.string().min(1), "The folder in which its tools work; `none` for no folder.");
const compactionName = describeKey(defineReference("compaction"), "One of [[compaction.instances]].");

const Model = buildShape(MODEL_FIELDS);
const InlineModel = withExpected(
  z.union([z.string().min(1), z.strictObject(Model)]),
  "the name of a provider, {{provider.NAME}}, or a table like [provider]",
);
const provider = describeKey(
  InlineModel,
  "One of [[provider.instances]], or a table of its own; [provider] by default.",
);
const fallbacks = describeKey(
  withExpected(
    z.array(InlineModel).max(MAX_FALLBACKS),
    `a list of at most ${MAX_FALLBACKS}; each member the name of a provider, {{provider.NAME}}, or a table like [provider]`,
  ),
  "Models that are tried in this order when its own model fails. By default an agent has those of [agent], a sub-agent none.",
);
const skillNames = describeKey(
  z.array(z.string().min(1)),
  "Names of skills in the folders of [skills]; by default all of them, if there is a section [skills].",
);

const Profile = {
  ...buildShape(PROFILE_FIELDS),
  system_prompt: prompt,
  compaction: compactionName,
  skills: skillNames,
};

const ProfileInstance = z.strictObject({
  id: describeRequiredKey(Id, "Its name, which `agent_profile` refers to."),
  ...Profile,
});

const subAgentNames = describeKey(
  z.union([z.array(defineReference("sub_agent")), z.literal("none")]),
  "The [[sub_agents.instances]] that it may delegate tasks to; by default an agent has all of them, a sub-agent none.",
);
const tools = describeKey(
  z.union([z.array(z.string()), Sections["tools"]!.unwrap()]),
  "Names of tools, or a table like [tools].",
);
const skills = describeKey(
  z.union([z.array(z.string().min(1)), Sections["skills"]!.unwrap()]),
  "Names of skills, or a table like [skills].",
);
const compaction = describeKey(
  z.union([defineReference("compaction"), Sections["compaction"]!.unwrap()]),
  "One of [[compaction.instances]], or a table like [compaction].",
);

/** The sections of one agent's own table. */
const AgentSections = { ...Sections, tools, skills, compaction };

const AgentInstance = z.strictObject({
  id: describeKey(
    withExpected(z.string().min(1), "a name of its own"),
    "Its name in this file, for [mode] and `--agent FILE#ID`; `name` by default.",
  ),
  name: describeKey(z.string().min(1).max(120), "Its name; `--agent FILE#NAME` chooses it.", "unnamed"),
  agent_profile: describeKey(
    defineReference("agent_profile"),
    "One of [[agent.profile.instances]]; the base profile by default.",
  ),
  profile: describeKey(
    z.strictObject({ ...Profile, workspace }),
    "A profile of its own, which takes precedence over the others.",
  ),
  system_prompt: prompt,
  provider,
  model: describeKey(z.string().min(1), "Another model of the same provider."),
  fallbacks,
  workspace,
  sub_agents: subAgentNames,
  ...AgentSections,
});

const SubAgentInstance = z.strictObject({
  id: describeKey(Id, "Its name in references; `name` by default."),
  name: describeKey(
    withExpected(z.string().regex(/^[A-Za-z0-9_-]{1,64}$/), "1 to 64 letters, digits, - or _"),
    "The tool's name; the id by default.",
  ),
  description: describeKey(z.string(), "What it does, for the model that chooses a tool.", ""),
  ...buildShape(SUB_AGENT_CALL_FIELDS),
  agent_name: describeKey(
    z.string().min(1).max(120),
    "The agent's name in lists; the tool's name by default.",
  ),
  agent_description: describeKey(z.string(), "Its purpose, for users."),
  agent_profile: describeKey(
    defineReference("agent_profile"),
    "One of [[agent.profile.instances]]; none by default.",
  ),
  system_prompt: prompt,
  provider,
  model: describeKey(z.string().min(1), "Another model of the same provider."),
  fallbacks,
  ...buildShape(SAMPLING_FIELDS),
  workspace,
  sub_agents: subAgentNames,
  ...AgentSections,
});

const ProviderInstance = z.strictObject({
  id: describeKey(Id, "Its name in references; `name` by default."),
  description: describeKey(z.string(), "A description for users."),
  ...Model,
});

const CompactionInstance = Sections["compaction"]!.unwrap().extend({
  id: describeRequiredKey(Id, "Its name, which `compaction` refers to."),
  description: describeKey(z.string(), "A description for users."),
});
const defineInstances = (schema: z.ZodType, what: string) => describeKey(z.array(schema), what, []);
const compactionInstances = defineInstances(
  CompactionInstance,
  "Named variants; a field that is not set has the section's value.",
);

const Context = Sections["context"]!.unwrap();
const ContextCompaction = (Context.shape["compaction"] as z.ZodOptional<z.ZodObject>).unwrap();

const PromptInstance = z
  .object({
    id: describeRequiredKey(Id, "Its name, which `system_prompt` refers to."),
    description: describeKey(z.string(), "A description for users."),
    type: describeKey(
      z.string().min(1),
      "One of [[system_prompt_strategy.instances]], or custom, agent or minimal.",
      "custom",
    ),
  })
  .catchall(withExpected(PromptText, "the text of a block, or file:PATH"));

const Block = z.strictObject({
  name: describeRequiredKey(z.string().min(1), "The key of its text in a system prompt."),
  order: describeKey(z.number().int(), "Blocks are sorted by this number, the lowest first.", 0),
  max_length: describeKey(integerFrom(0), "Characters; a longer text is truncated. No limit by default."),
});

const PromptStrategy = z.strictObject({
  id: describeRequiredKey(Id, "Its name, which `type` refers to."),
  description: describeKey(z.string(), "A description for users."),
  blocks: describeKey(z.array(Block), "The blocks of a prompt.", []),
});

const defineSection = (schema: z.ZodType, description: string) => describeKey(schema, description);

export const AgentFile = z.strictObject({
  $schema: describeKey(z.string(), "The location of the JSON Schema of this format, for editors."),
  default_workspace: describeKey(
    z.string().min(1),
    "The folder of agents that specify none; `none` for no folder.",
    ".",
  ),
  agent: defineSection(
    z.strictObject({
      system_prompt: prompt,
      workspace,
      fallbacks,
      sub_agents: subAgentNames,
      profile: defineSection(
        z.strictObject({
          profile_id: describeKey(z.uuid(), "For `{{#ID#}}`."),
          ...Profile,
          workspace,
          instances: defineInstances(
            ProfileInstance,
            "Named variants; a field that is not set has the profile's value.",
          ),
        }),
        "Fields that all agents share.",
      ),
      instances: defineInstances(
        AgentInstance,
        "The agents of this file. Without instances, the file declares one agent, [agent].",
      ),
    }),
    "The agent.",
  ),
  provider: defineSection(
    z.strictObject({
      ...Model,
      instances: defineInstances(ProviderInstance, "Named providers, each complete."),
    }),
    "The model and the vendor that serves it. The only required section.",
  ),
  ...Sections,
  compaction: defineSection(
    Sections["compaction"]!.unwrap().extend({ instances: compactionInstances }),
    "When and how the context is compacted. Off unless max_context_tokens is set.",
  ),
  context: defineSection(
    Context.extend({
      compaction: defineSection(
        ContextCompaction.extend({ instances: compactionInstances }),
        "The same as [compaction].",
      ),
    }),
    "Another way to write [compaction].",
  ),
  sub_agents: defineSection(
    z.strictObject({
      instances: defineInstances(
        SubAgentInstance,
        "Each is a tool that delegates a task to an agent of its own.",
      ),
    }),
    "Agents that other agents may call. They inherit nothing except [sandbox] and default_workspace.",
  ),
  mode: defineSection(ModeSection, "How the agents of this file work together on a task."),
  system_prompt: defineSection(
    withExpected(
      z.strictObject({
        instances: defineInstances(PromptInstance, "Prompts composed of blocks, each under its name."),
      }),
      "a table of named prompts; the text of the agent's own prompt is `system_prompt` in [agent]",
    ),
    "Named prompts that agents refer to.",
  ),
  system_prompt_strategy: defineSection(
    z.strictObject({
      instances: defineInstances(PromptStrategy, "The blocks of a prompt and their order."),
    }),
    "How prompts are composed of blocks.",
  ),
});
