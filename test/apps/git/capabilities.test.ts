import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createGenericCapability } from "../../../src/apps/git/capabilities/capability.ts";
import { loadCapabilities } from "../../../src/apps/git/capabilities/load-capabilities.ts";
import { appendStyle } from "../../../src/apps/git/style/append-style.ts";
import { loadStyles } from "../../../src/apps/git/style/presets.ts";
import { formatProblem } from "../../../src/client/index.ts";

const ARTIFACTS = [
  "GeneratedMessage",
  "Review",
  "MarkdownPullRequest",
  "MarkdownChangelog",
  "MarkdownReleaseNotes",
  "PlainText",
  "SemanticBlame",
  "Critique",
];
const NAMES = { artifactTypes: ARTIFACTS, toolNames: ["git_diff", "git_log"] };
const STYLES = loadStyles();

function makeFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-capabilities-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

const NOBODY = makeFolder({});

test("[IRIS-04.1] [IRIS-04.2] [IRIS-05] the package has eight capabilities, seven for users, each with its output type", () => {
  const { capabilities, problems } = loadCapabilities({ ...NAMES, home: NOBODY });
  expect(problems).toEqual([]);
  const outputs = [...capabilities.values()].map(({ name, output, isInternal }) => [
    name,
    output.type === "artifact" ? output.name : undefined,
    isInternal,
  ]);
  expect(outputs).toEqual([
    ["changelog", "MarkdownChangelog", false],
    ["chat", "PlainText", false],
    ["commit", "GeneratedMessage", false],
    ["pr", "MarkdownPullRequest", false],
    ["release_notes", "MarkdownReleaseNotes", false],
    ["review", "Review", false],
    ["semantic_blame", "SemanticBlame", false],
    ["verify", "Critique", true],
  ]);
});

test("[IRIS-34.1] the capability commit loads with its prompt and output type; [IRIS-20.1] the critic is on for what is published", () => {
  const { capabilities } = loadCapabilities({ ...NAMES, home: NOBODY });
  expect(capabilities.get("commit")?.taskPrompt).toContain("Generate a commit message");
  const critics = Object.fromEntries([...capabilities].map(([name, { critic }]) => [name, critic]));
  expect(critics).toEqual({
    commit: "on-request",
    review: "on",
    pr: "on",
    changelog: "on",
    release_notes: "on",
    chat: "off",
    semantic_blame: "off",
    verify: "off",
  });
});

test("[IRIS-04.3] an unknown name stands for a generic prompt with a plain text", () => {
  expect(createGenericCapability("haiku")).toMatchObject({
    taskPrompt: "Generic prompt",
    output: { type: "artifact", name: "PlainText" },
  });
});

test("files of the user and of a trusted repository add capabilities and override others", () => {
  const home = makeFolder({
    "capabilities/commit.toml": 'name = "commit"\ndescription = "Mine."\ntask_prompt = "Write it."\n',
    "capabilities/haiku.toml": 'name = "haiku"\ndescription = "A poem."\ntask_prompt = "Write one."\n',
  });
  const repository = makeFolder({
    ".holdfast/capabilities/haiku.toml":
      'name = "haiku"\ndescription = "Ours."\ntask_prompt = "Write two."\noutput_schema = "haiku.json"\ntools = ["git_log"]\ncritic = "on"\n',
    ".holdfast/capabilities/haiku.json": '{"type": "object", "properties": {"lines": {"type": "array"}}}',
  });
  const untrusted = loadCapabilities({ ...NAMES, home });
  expect(untrusted.problems).toEqual([]);
  expect(untrusted.capabilities.get("commit")).toMatchObject({ origin: "home", description: "Mine." });
  expect(untrusted.capabilities.get("haiku")).toMatchObject({ origin: "home" });
  const trusted = loadCapabilities({ ...NAMES, home, repository });
  expect(trusted.problems).toEqual([]);
  expect(trusted.capabilities.get("haiku")).toMatchObject({
    origin: "repository",
    output: { type: "schema", schema: { type: "object" } },
    tools: ["git_log"],
    critic: "on",
  });
});

test("each mistake is named with file, line, field and what to do, and the built-in capability stays", () => {
  const home = makeFolder({
    "capabilities/a.toml":
      'name = "Review!"\ndescripton = "x"\noutput_type = "Poem"\ntools = ["git_dif"]\ntask_prompt = ""\n',
    "capabilities/b.toml":
      'name = "commit"\ndescription = "x"\ntask_prompt = "x"\noutput_schema = "none.json"\n',
    "capabilities/c.toml": 'name = "one"\ndescription = "x"\ntask_prompt = "x"\n',
    "capabilities/d.toml": 'name = "one"\ndescription = "x"\ntask_prompt = "x"\n',
    "capabilities/e.toml": "name = [\n",
  });
  const { capabilities, problems } = loadCapabilities({ ...NAMES, home });
  expect(capabilities.get("commit")?.origin).toBe("built-in");
  const texts = problems.map((problem) => formatProblem(problem).replace(`${home}/capabilities/`, ""));
  expect(texts).toEqual([
    expect.stringMatching(/^a\.toml:1:1: error: description: is missing/),
    expect.stringMatching(/^a\.toml:1:8: error: name: must begin with a small letter/),
    'a.toml:2:1: error: descripton: unknown key; did you mean "description"?',
    "a.toml:5:15: error: task_prompt: must not be empty",
    expect.stringMatching(/none\.json: error: it cannot be read: there is no such file$/),
    'd.toml: error: name: the name "one" is already that of c.toml',
    expect.stringMatching(/^e\.toml:2:1: error: This is not TOML/),
  ]);
  const names = loadCapabilities({
    ...NAMES,
    home: makeFolder({
      "capabilities/a.toml":
        'name = "a"\ndescription = "x"\noutput_type = "Poem"\ntools = ["git_dif"]\ntask_prompt = "x"\n',
    }),
  });
  expect(names.problems.map(({ line, field, message }) => [line, field, message])).toEqual([
    [3, "output_type", `must be one of ${ARTIFACTS.join(", ")}; for a type of your own, use output_schema`],
    [4, "tools[0]", "must be one of git_diff, git_log"],
  ]);
});

test("[IRIS-28.1-3] a style is appended, and the gitmoji guide only for commits, never with Conventional Commits", () => {
  const style = (preset: string | undefined, gitmoji: boolean, capability = "commit") =>
    appendStyle("PROMPT", capability, { preset, gitmoji }, STYLES);
  expect(style("cosmic", false)).toMatch(/^PROMPT\n\n=== STYLE INSTRUCTIONS ===\nTake images from space/);
  expect(style(undefined, true)).toContain("\n\n=== GITMOJI INSTRUCTIONS ===\n");
  expect(style(undefined, true)).toContain("🐛 fixes a fault");
  for (const text of [style("conventional", true), style(undefined, true, "review"), style("cosmic", false)])
    expect(text).not.toContain("GITMOJI");
  expect(style("toString", false)).toBe("PROMPT");
  for (const preset of ["cosmic", "playful"]) {
    expect(style(preset, false)).toMatch(/72\s+characters/);
    expect(style(preset, false)).toMatch(/imperative\s+mood/);
    expect(style(preset, false)).toContain("JSON");
  }
});
