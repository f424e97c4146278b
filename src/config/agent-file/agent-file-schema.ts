import { z } from "zod";
import { MAX_FALLBACKS, SubAgentLimits } from "../../schema/definition.ts";
import {
  buildShape,
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
import { SKILL_FIELDS } from "./fields/skills.ts";
import { ModeSection } from "./mode-schema.ts";

// The format of an agent file: what TOML, YAML and JSON may hold. Its meaning is in compose.ts, its reference in
// docs/agents.md, which is written from this.

/** Sections that speak of all agents of a file, or stand in an agent's own table. */
export const SECTION_FIELDS: readonly Field[] = [
  ...BEHAVIOR_FIELDS,
  ...COMPACTION_FIELDS,
  ...EXECUTION_FIELDS,
  ...HOOK_FIELDS,
  ...MCP_FIELDS,
  ...OPENAPI_FIELDS,
  ...SKILL_FIELDS,
];

export const SUB_AGENT_LIMIT_FIELDS = defineLimitFields("", "limits", SubAgentLimits.parse({}));

const Sections = buildShape(SECTION_FIELDS) as Record<string, z.ZodOptional<z.ZodObject>>;

const defineReference = (to: string) =>
  withExpected(z.string().min(1), `the name of a ${to}, or {{${to}.NAME}}`);
const Id = withExpected(z.string().min(1), "a name, or {{NAME}}, {{%NAME%}}, {{#ID#}}");

const PROMPT =
  'The text, "file:PATH" (relative to the workspace), "{{system_prompt.NAME}}", or `{ text = … }` for a text that begins like one of these.';
const PromptText = withExpected(
  z.union([z.string(), z.strictObject({ text: z.string() })]),
  'a text, "file:PATH", {{system_prompt.NAME}}, or {text = …}',
);
const prompt = describeKey(PromptText, PROMPT);
const workspace = describeKey(z.string().min(1), "The folder that its tools work in; `none` for no folder.");
const compactionName = describeKey(defineReference("compaction"), "One of [[compaction.instances]].");

const Model = buildShape(MODEL_FIELDS);
const InlineModel = withExpected(
  z.union([z.string().min(1), z.strictObject(Model)]),
  "the name of a provider, {{provider.NAME}}, or a table as [provider] is",
);
const provider = describeKey(
  InlineModel,
  "One of [[provider.instances]], or a table of its own; [provider] unless said.",
);
const fallbacks = describeKey(
  withExpected(
    z.array(InlineModel).max(MAX_FALLBACKS),
    `a list of at most ${MAX_FALLBACKS}; each member the name of a provider, {{provider.NAME}}, or a table as [provider] is`,
  ),
  "Asked in this order where its own model cannot answer. An agent has those of [agent] unless said, a sub-agent none.",
);
const skillNames = describeKey(
  z.array(z.string().min(1)),
  "Names of skills, of the folders of [skills]; all of them unless said, where there is a [skills].",
);

const Profile = {
  ...buildShape(PROFILE_FIELDS),
  system_prompt: prompt,
  compaction: compactionName,
  skills: skillNames,
};

const ProfileInstance = z.strictObject({
  id: describeRequiredKey(Id, "Its name, for `agent_profile`."),
  ...Profile,
});

const subAgentNames = describeKey(
  z.union([z.array(defineReference("sub_agent")), z.literal("none")]),
  "Which of [[sub_agents.instances]] it may hand a task to; an agent has all of them unless said, a sub-agent none.",
);
const tools = describeKey(
  z.union([z.array(z.string()), Sections["tools"]!.unwrap()]),
  "Names of tools, or a table as [tools] is.",
);
const skills = describeKey(
  z.union([z.array(z.string().min(1)), Sections["skills"]!.unwrap()]),
  "Names of skills, or a table as [skills] is.",
);
const compaction = describeKey(
  z.union([defineReference("compaction"), Sections["compaction"]!.unwrap()]),
  "One of [[compaction.instances]], or a table as [compaction] is.",
);

const AgentInstance = z.strictObject({
  id: describeKey(
    withExpected(z.string().min(1), "a name of its own"),
    "Its name in this file, for [mode] and `--agent FILE#ID`; `name` unless said.",
  ),
  name: describeKey(z.string().min(1).max(120), "Its name; `--agent FILE#NAME` chooses it.", "unnamed"),
  agent_profile: describeKey(
    defineReference("agent_profile"),
    "One of [[agent.profile.instances]]; the base profile unless said.",
  ),
  profile: describeKey(z.strictObject({ ...Profile, workspace }), "A profile of its own, before the others."),
  system_prompt: prompt,
  provider,
  model: describeKey(z.string().min(1), "Another model of the same provider."),
  fallbacks,
  workspace,
  sub_agents: subAgentNames,
  ...Sections,
  tools,
  skills,
  compaction,
});

const SubAgentInstance = z.strictObject({
  id: describeKey(Id, "Its name for references; `name` unless said."),
  name: describeKey(
    withExpected(z.string().regex(/^[A-Za-z0-9_-]{1,64}$/), "1 to 64 letters, digits, - or _"),
    "The tool's name; the id unless said.",
  ),
  description: describeKey(z.string(), "For the model that is to choose it.", ""),
  ...buildShape(SUB_AGENT_LIMIT_FIELDS),
  agent_name: describeKey(
    z.string().min(1).max(120),
    "The agent's name in lists; the tool's name unless said.",
  ),
  agent_description: describeKey(z.string(), "What it is for, for people."),
  agent_profile: describeKey(
    defineReference("agent_profile"),
    "One of [[agent.profile.instances]]; none unless said.",
  ),
  system_prompt: prompt,
  provider,
  model: describeKey(z.string().min(1), "Another model of the same provider."),
  fallbacks,
  ...buildShape(SAMPLING_FIELDS),
  workspace,
  sub_agents: subAgentNames,
  ...Sections,
  tools,
  skills,
  compaction,
});

const ProviderInstance = z.strictObject({
  id: describeKey(Id, "Its name for references; `name` unless said."),
  description: describeKey(z.string(), "For people."),
  ...Model,
});

const CompactionInstance = Sections["compaction"]!.unwrap().extend({
  id: describeRequiredKey(Id, "Its name, for `compaction`."),
  description: describeKey(z.string(), "For people."),
});
const defineInstances = (schema: z.ZodType, what: string) => describeKey(z.array(schema), what, []);
const compactionInstances = defineInstances(
  CompactionInstance,
  "Named variations; unset fields are those of the section.",
);

const Context = Sections["context"]!.unwrap();
const ContextCompaction = (Context.shape["compaction"] as z.ZodOptional<z.ZodObject>).unwrap();

const PromptInstance = z
  .object({
    id: describeRequiredKey(Id, "Its name, for `system_prompt`."),
    description: describeKey(z.string(), "For people."),
    type: describeKey(
      z.string().min(1),
      "One of [[system_prompt_strategy.instances]], or custom, agent or minimal.",
      "custom",
    ),
  })
  .catchall(withExpected(PromptText, "the text of a block, or file:PATH"));

const Block = z.strictObject({
  name: describeRequiredKey(z.string().min(1), "The key of its text in a system prompt."),
  order: describeKey(z.number().int(), "Lower ones come first.", 0),
  max_length: describeKey(integerFrom(0), "Characters; what is longer is cut. No limit unless said."),
});

const PromptStrategy = z.strictObject({
  id: describeRequiredKey(Id, "Its name, for `type`."),
  description: describeKey(z.string(), "For people."),
  blocks: describeKey(z.array(Block), "What a prompt is put together of.", []),
});

const defineSection = (schema: z.ZodType, description: string) => describeKey(schema, description);

export const AgentFile = z.strictObject({
  $schema: describeKey(z.string(), "For editors: where the JSON Schema of this format lies."),
  default_workspace: describeKey(
    z.string().min(1),
    "The folder of agents that name none; `none` for no folder.",
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
            "Named variations; unset fields are those of the profile.",
          ),
        }),
        "What agents have in common.",
      ),
      instances: defineInstances(
        AgentInstance,
        "The agents of this file; one agent, made of [agent], where there are none.",
      ),
    }),
    "The agent.",
  ),
  provider: defineSection(
    z.strictObject({ ...Model, instances: defineInstances(ProviderInstance, "Named ones, each whole.") }),
    "The model, and who serves it. The only section that must be there.",
  ),
  ...Sections,
  compaction: defineSection(
    Sections["compaction"]!.unwrap().extend({ instances: compactionInstances }),
    "When the context is made smaller. Off unless max_context_tokens is said.",
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
        "Each is a tool that hands a task to an agent of its own.",
      ),
    }),
    "Agents that agents may call. They inherit nothing.",
  ),
  mode: defineSection(ModeSection, "How the agents of this file work together on a task."),
  system_prompt: defineSection(
    z.strictObject({
      instances: defineInstances(PromptInstance, "Prompts put together of blocks, each under its name."),
    }),
    "Prompts to refer to.",
  ),
  system_prompt_strategy: defineSection(
    z.strictObject({
      instances: defineInstances(PromptStrategy, "Which blocks a prompt has, and in which order."),
    }),
    "How prompts are put together.",
  ),
});
