// Converts evaluations of other packages to suite files: specs of OpenAI's `evals` whose answers are compared with a text, and
// the problems of HumanEval. How each part is converted:
//
//   messages     A case is one message. The system message comes first, then the user's, after an empty line. A longer
//                conversation, such as one with examples, becomes a dialogue: "User: …", "Assistant: …", and at its end
//                "Assistant:". System messages with the name example_user or example_assistant are those roles.
//   ideal        `expected` of the case
//   Match        exact, match = "prefix", trim = false: the answer begins with the ideal. Examples (num_few_shot) come before
//                the last message, as there.
//   Includes     includes, with ignore_case
//   FuzzyMatch   includes, normalize = true, either_way = true
//
// Everything else is refused with a reason.

/** A spec that has no counterpart. The message says why. */
export class RefusedSpec extends Error {
  name = "RefusedSpec";
}

const BASIC = "evals.elsuite.basic.";

/** The classes that have a counterpart, with the arguments that are converted. */
const CLASSES = {
  [`${BASIC}match:Match`]: ["samples_jsonl", "num_few_shot", "few_shot_jsonl", "max_tokens"],
  [`${BASIC}includes:Includes`]: ["samples_jsonl", "ignore_case"],
  [`${BASIC}fuzzy_match:FuzzyMatch`]: ["samples_jsonl", "max_tokens"],
};

/** The classes whose specs are converted or refused; those of other classes are not counted. */
const COUNTED = /:(Match|Includes|FuzzyMatch|MultipleChoice)$/;

/** Lists the specs of a registry file, each with its class and arguments. */
export function listSpecs(registry) {
  return Object.entries(registry ?? {}).flatMap(([name, spec]) =>
    typeof spec?.class === "string" && COUNTED.test(spec.class)
      ? [{ name, class: spec.class, args: spec.args ?? {} }]
      : [],
  );
}

/** Lists the data files that a spec needs, by their paths in registry/data. */
export function listDataFiles({ args }) {
  return [args.samples_jsonl, args.num_few_shot > 0 ? args.few_shot_jsonl : undefined].filter(
    (path) => typeof path === "string",
  );
}

/** Converts a spec to the content of a suite file. @throws RefusedSpec */
export function convertSpec({ name, class: type, args }, agent) {
  const known = CLASSES[type];
  if (known === undefined) {
    const reason = type.endsWith(":MultipleChoice")
      ? `its data is not in the package: ${args.dataset}`
      : `the class ${type} has no counterpart`;
    throw new RefusedSpec(reason);
  }
  const unknown = Object.keys(args).find((key) => !known.includes(key));
  if (unknown !== undefined) throw new RefusedSpec(`the argument ${unknown} has no counterpart`);
  if (typeof args.samples_jsonl !== "string") throw new RefusedSpec("it names no samples_jsonl");
  return {
    name,
    tags: ["openai-evals", type.split(":").at(-1)],
    agents: [agent],
    cases: "cases.jsonl",
    scorers: [createScorer(type, args)],
  };
}

function createScorer(type, { ignore_case }) {
  if (type.endsWith(":Match")) return { type: "exact", match: "prefix", trim: false };
  if (type.endsWith(":FuzzyMatch")) return { type: "includes", normalize: true, either_way: true };
  return { type: "includes", ...(ignore_case === true ? { ignore_case } : {}) };
}

/** Converts a sample to a case. @param examples - Conversations that come before the last message. @throws RefusedSpec */
export function convertSample(sample, { number, examples = [] }) {
  const refuse = (reason) => {
    throw new RefusedSpec(`sample ${number} ${reason}`);
  };
  const { input, ideal } = sample ?? {};
  if (input === undefined || ideal === undefined) refuse("has no input or no ideal");
  const ideals = Array.isArray(ideal) ? ideal : [ideal];
  if (ideals.length === 0 || ideals.some((one) => typeof one !== "string"))
    refuse("has an ideal that is no text");
  if (examples.length > 0 && !Array.isArray(input)) refuse("has no messages that examples could precede");
  const messages = Array.isArray(input)
    ? [...input.slice(0, -1), ...examples.flat(), ...input.slice(-1)]
    : input;
  const text = typeof messages === "string" ? messages : foldMessages(messages, refuse);
  if (text.trim() === "") refuse("has an empty input");
  return { id: String(number), input: text, expected: ideal };
}

function foldMessages(messages, refuse) {
  if (messages.some((message) => typeof message?.content !== "string"))
    refuse("has a message that is no text");
  const turns = messages.map(({ role, name, content }) => ({ role: getRole(role, name, refuse), content }));
  const first = turns.findIndex(({ role }) => role !== "system");
  const system = turns.slice(0, first < 0 ? undefined : first).map(({ content }) => content);
  const rest = first < 0 ? [] : turns.slice(first);
  if (rest.length < 2 && rest.every(({ role }) => role === "user"))
    return [...system, ...rest.map(({ content }) => content)].join("\n\n");
  const lines = rest.map(({ role, content }) =>
    role === "system" ? content : `${SPEAKERS[role]}: ${content}`,
  );
  return [...system, ...lines, "Assistant:"].join("\n\n");
}

const SPEAKERS = { user: "User", assistant: "Assistant" };

function getRole(role, name, refuse) {
  if (role === "system" && /^example_(user|assistant)$/.test(name ?? ""))
    return name.slice("example_".length);
  if (role === "system" || role === "user" || role === "assistant") return role;
  return refuse(`has a message of the role ${role}`);
}

/** Returns the suite of HumanEval: the program of each case is run with the tests of its problem. */
export function createHumanEvalSuite(agent) {
  return {
    name: "human-eval",
    tags: ["human-eval"],
    agents: [agent],
    cases: "cases.jsonl",
    scorers: [
      {
        type: "command",
        name: "tests",
        command: "python3 check_program.py",
        files: { "check_program.py": PROGRAM },
        timeout_ms: 10_000,
      },
    ],
  };
}

/**
 * The program that the command runs. The answer may be the body of the function or the whole function: after the prompt, whose
 * docstring is a body of its own, the whole function replaces the first one.
 */
export const PROGRAM = "{{metadata.prompt}}{{code}}\n\n{{metadata.test}}\n\ncheck({{metadata.entryPoint}})\n";

/** Converts a problem of HumanEval to a case. */
export function convertProblem({ task_id, prompt, entry_point, canonical_solution, test }) {
  return {
    id: task_id,
    input: prompt,
    expected: canonical_solution,
    metadata: { entryPoint: entry_point, prompt, test },
  };
}
