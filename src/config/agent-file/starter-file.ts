/** The location of the JSON Schema for editors, in a project that depends on this package. */
export const SCHEMA_PATH = "./node_modules/holdfast/agent.schema.json";

/** The agent file that `holdfast init` writes. */
export const STARTER = `#:schema ${SCHEMA_PATH}
# An agent. Check it:     holdfast config check agent.toml
# What it means, in full: holdfast config show agent.toml --resolved
# Talk with it:           holdfast chat --agent agent.toml

[provider]
model = "claude-sonnet-4-5"
# The name of the variable that holds the key, never the key itself. The worker reads it.
api_key = "\${ANTHROPIC_API_KEY}"
# For other vendors say the protocol: openai, google, bedrock, ... It is never guessed from the model.
api = "anthropic"
reasoning = true
# base_url = "http://127.0.0.1:8080/v1"

# Dollars per million tokens. A limit in dollars needs them, or a model of the catalogue.
[provider.cost]
input_per_million = 3.0
output_per_million = 15.0
cache_read_per_million = 0.3
cache_write_per_million = 3.75

[agent]
# A text, "file:PATH" (from the workspace), or the name of a [[system_prompt.instances]].
system_prompt = """
Use your tools to look before you change anything, make the smallest change that does what was asked,
check that it works, and say briefly what you did."""
# The folder that its tools work in; by default the current one.
# workspace = "."

[agent.profile]
name = "coder"
thinking_level = "low"

[tools]
enabled = ["bash", "read_file", "write_file", "edit_file", "list_files", "search"]

[execution]
max_turns = 50
max_cost = 2.0

# Without max_context_tokens the context is never made smaller.
[compaction]
max_context_tokens = 150000
keep_recent_turns = 6

# The first rule that matches decides; where none does, unsafe tools are asked for while somebody is there.
[[permissions.rules]]
tool = "bash"
command = ["git push", "rm -rf"]
outcome = "ask"

# Agents that it may hand a task to. They inherit nothing.
# [[sub_agents.instances]]
# name = "researcher"
# description = "Reads the code and answers questions about it"
# system_prompt = "Answer with file names and line numbers."
# tools = ["read_file", "list_files", "search"]
`;
