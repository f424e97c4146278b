import { createFinding } from "../findings.mjs";
import { DONE, openAgents, waitForEnd } from "../parts/agents.mjs";
import { runHoldfast } from "../parts/holdfast-process.mjs";

/** Sets the title of a terminal, erases its screen, and turns the direction of a line. */
const ESCAPES = ["\u001b]0;owned\u0007", "\u001b[2J", "\u009b2J", "\u202e"];
const WORDS = `before ${ESCAPES.join("x")} after`;

export default {
  name: "terminal-escapes",
  plays:
    "A model, its calls and the errors of its vendor say what steers a terminal; people run, show and list the sessions.",
  promise: "No control character of another's words reaches a terminal.",
  isQuick: true,
  play: async (stage) => {
    const agents = await openAgents(stage);
    const calls = [{ name: `bash${WORDS}`, arguments: { command: WORDS } }];
    const spoken = await agents.start("escapes-words", {
      replies: [{ text: WORDS, toolCalls: calls }, DONE],
      prompt: WORDS,
    });
    const body = JSON.stringify({ type: "error", error: { type: "invalid_request_error", message: WORDS } });
    const failed = await agents.start("escapes-error", { replies: [{ fault: "http", status: 400, body }] });
    await Promise.all([waitForEnd(spoken, 60_000), waitForEnd(failed, 60_000)]);
    const commands = [
      ["show", spoken.id],
      ["show", "--events", spoken.id],
      ["show", "--events", failed.id],
      ["status", failed.id],
      ["list"],
      ["search", "before"],
    ];
    const printed = [];
    for (const command of commands) {
      const { stdout, stderr } = await runHoldfast(stage, [...agents.common, ...command], {
        env: { NO_COLOR: "1" },
      });
      printed.push({ command: command.join(" "), text: stdout + stderr });
    }
    return { printed };
  },
  judge: ({ printed }) =>
    printed.flatMap(({ command, text }) => {
      const found = [...text].filter(isTerminalControl);
      const codes = [
        ...new Set(found.map((char) => `U+${char.codePointAt(0).toString(16).padStart(4, "0")}`)),
      ];
      return codes.length === 0
        ? []
        : [createFinding("leaked", `it prints ${codes.join(", ")}`, `holdfast ${command}`)];
    }),
};

/** Control characters, but line breaks and tabs, of which texts are made; and those that turn the direction of a line. */
function isTerminalControl(char) {
  const code = char.codePointAt(0);
  if (char === "\n" || char === "\t") return false;
  return code < 0x20 || (code >= 0x7f && code <= 0x9f) || /[\u202a-\u202e\u2066-\u2069]/.test(char);
}
