import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const page = (name: string) => readFileSync(`docs/${name}.md`, "utf8");

test("the page on sessions gives its nine design decisions, and every page that it links to exists [DOC-07.1]", () => {
  const text = page("sessions");
  const decisions = text.slice(text.indexOf("## Design decisions")).match(/^\d\. \*\*.+?\*\*/gm) ?? [];
  expect(decisions).toHaveLength(9);
  const linked = [...text.matchAll(/\]\(([a-z0-9/.-]+\.md)/g)].map(([, file]) => file ?? "");
  for (const file of linked) expect(() => readFileSync(`docs/${file}`), file).not.toThrow();
});

test("the page on architecture names every folder that exists, and no other [DOC-07.2]", () => {
  const drawn = page("architecture").match(/```\nsrc\/\n([\s\S]*?)```/)?.[1] ?? "";
  const named = [...drawn.matchAll(/^ {2}(\S+)/gm)].map(([, name]) => (name ?? "").replace(/\/$/, ""));
  expect(named.sort()).toEqual(readdirSync("src").sort());
});
