// The run that the pictures display: an agent mends the tests of the demo's project, and its worker dies on the way.

/** Rules that leave one question open: the commit. */
export const AGENT_FILE = `
[provider]
api = "anthropic"
model = "claude-sonnet-5-5"
api_key = "\${ANTHROPIC_API_KEY}"
base_url = "MODEL_ADDRESS"

[agent.profile]
name = "coder"

[tools]
enabled = ["bash", "read_file", "edit_file"]

[[permissions.rules]]
tool = "bash"
command = ["npm test", "grep"]
outcome = "allow"
`;

export const PROMPT = "Make the tests pass, then commit.";

/** The gate at which the second answer waits while the worker dies. */
export const GATE = "worker-killed";

const call = (name, input) => ({ name, arguments: input });

export const SCRIPT = {
  replies: [
    {
      text: "First I run the tests.",
      toolCalls: [call("bash", { command: "npm test | grep -E ' (pass|fail) '" })],
    },
    {
      text: "`from 10 pieces` means 10 and more, but `tierFor` compares with `>`.",
      toolCalls: [
        call("edit_file", {
          path: "src/prices.js",
          old_text: "descending.find((tier) => quantity > tier.from)",
          new_text: "descending.find((tier) => quantity >= tier.from)",
        }),
      ],
      holdUntil: GATE,
    },
    {
      text: "Now the tests again.",
      toolCalls: [call("bash", { command: "npm test | grep -E ' (pass|fail) '" })],
    },
    {
      text: "All of them pass.",
      toolCalls: [call("bash", { command: 'git commit -am "Include the first quantity of a tier"' })],
    },
    { text: "Mended and committed." },
  ],
};
