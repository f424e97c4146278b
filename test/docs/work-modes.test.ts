import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { WorkMode } from "../../src/schema/mode.ts";
import { load } from "../config/agent-files.ts";

const page = readFileSync(new URL("../../docs/work-modes.md", import.meta.url), "utf8");
const examples = [...page.matchAll(/```toml\n([\s\S]*?)```/g)].map(([, text]) => text!);

test("every example of docs/work-modes.md is a mode without a warning [ORC-02]", () => {
  const modes = examples.map((text) => {
    const { mode, problems } = load(text);
    expect(problems, text).toEqual([]);
    return mode?.type;
  });
  expect(modes).toEqual(expect.arrayContaining(["pipeline", "fan-out", "autonomous", "interactive"]));
});

test("the table lists every mode", () => {
  for (const { shape } of WorkMode.options) expect(page).toContain(`| \`${shape.type.value}\``);
});
