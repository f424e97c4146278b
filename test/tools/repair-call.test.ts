import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { preservesText, scan } from "../../src/tools/argument-repair/preserves-text.ts";
import { readLooseObject } from "../../src/tools/argument-repair/read-loose-json.ts";
import { type RepairedCall, repairCall } from "../../src/tools/argument-repair/repair-call.ts";
import { createDefaultTools } from "../../src/tools/builtin/default-tools.ts";
import { defineTool, type ExecutableTool } from "../../src/tools/tool.ts";
import { isThorough } from "../support/test-depth.ts";

// The table of repair-call.ts, row by row: each repair, and the nearest case that is not repaired.

const make = (name: string, inputSchema: z.ZodObject, aliases?: readonly string[]): ExecutableTool =>
  defineTool({
    name,
    description: "",
    inputSchema,
    execute: () => "done",
    ...(aliases === undefined ? {} : { aliases }),
  });

const none = z.object({});
const named = (...names: string[]) => names.map((name) => make(name, none));

const note = make(
  "note",
  z.object({
    text: z.string(),
    lines: z.number().int().min(1).optional(),
    weight: z.number().optional(),
    loud: z.boolean().optional(),
    tags: z.array(z.string()).optional(),
    place: z.object({ x: z.number(), y: z.number() }).optional(),
    parent: z.string().nullable().optional(),
    level: z.enum(["low", "high"]).optional(),
    either: z.union([z.number(), z.boolean()]).optional(),
    shape: z
      .discriminatedUnion("kind", [
        z.object({ kind: z.literal("round"), radius: z.number() }),
        z.object({ kind: z.literal("square"), side: z.number() }),
      ])
      .optional(),
    counts: z.record(z.string(), z.number()).optional(),
    strict: z.strictObject({ a: z.string() }).optional(),
  }),
);

const recover = (args: unknown, tool: ExecutableTool = note) =>
  repairCall({ name: tool.name, arguments: args }, [tool]);

function recovered(args: unknown, tool: ExecutableTool = note): RepairedCall {
  const result = recover(args, tool);
  if ("message" in result) throw new Error(result.message);
  return result;
}

function refused(args: unknown, tool: ExecutableTool = note): string {
  const result = recover(args, tool);
  if (!("message" in result)) throw new Error(`recovered as ${JSON.stringify(result.value)}`);
  return result.message;
}

describe("the name of a tool", () => {
  const toolOf = (name: string, tools: readonly ExecutableTool[]) => {
    const result = repairCall({ name, arguments: {} }, tools);
    return "message" in result ? result.message : [result.tool.name, ...result.notes];
  };

  test("matches exactly, even if other names would match too", () => {
    expect(toolOf("read", named("READ", "read", "read_file"))).toEqual(["read"]);
  });

  test.each(["Get_Weather", "get-weather", "get weather", "get.weather", "getWeather", "GETWEATHER"])(
    "%s differs only in case or separators",
    (name) =>
      expect(toolOf(name, named("get_weather"))).toEqual(["get_weather", `${name}: read as get_weather`]),
  );

  test("a name without one letter is another name, and the message suggests the intended one [RIG-07.2]", () => {
    expect(toolOf("get_weathr", named("get_weather", "b"))).toBe(
      'tool: found the unknown name "get_weathr", expected one of get_weather, b; did you mean get_weather?',
    );
    expect(toolOf("x", [])).toBe('tool: found the unknown name "x", expected no tools');
    expect(toolOf("", named("a"))).toMatch(/^tool: found the unknown name ""/);
    expect(toolOf("-_ .", named("a"))).toMatch(/^tool: found/);
  });

  test("a name that matches two tools matches none", () => {
    expect(toolOf("Get-Weather", named("get_weather", "getweather"))).toMatch(
      /^tool: found the unknown name/,
    );
  });

  test("an alias of a tool matches, unless two tools share it [RIG-07.1]", () => {
    const tools = [make("get_weather", none, ["forecast"]), make("other", none)];
    expect(toolOf("Forecast", tools)).toEqual(["get_weather", "Forecast: read as get_weather"]);
    expect(toolOf("forecast", [...tools, make("sky", none, ["fore-cast"])])).toMatch(/^tool: found/);
  });

  test("a built-in alias of one of our six tools matches if no other tool does", () => {
    const named = (name: string, tools = createDefaultTools()) => {
      const result = repairCall({ name, arguments: { command: "ls", path: "a", pattern: "x" } }, tools);
      return "tool" in result ? result.tool.name : result.message.slice(0, 5);
    };
    expect(["shell", "Read", "grep", "ls", "file_read"].map((name) => named(name))).toEqual([
      "bash",
      "read_file",
      "search",
      "list_files",
      "read_file",
    ]);
    expect(named("READ", [...createDefaultTools(), make("re-ad", none)])).toBe("tool:");
    expect(
      named(
        "grep",
        createDefaultTools().filter(({ name }) => name !== "search"),
      ),
    ).toBe("tool:");
  });

  test("a property name that every object has is not an alias", () => {
    for (const name of ["constructor", "toString", "__proto__"]) {
      expect(toolOf(name, named("bash", "constructor2"))).toMatch(/^tool: found/);
    }
  });
});

describe("arguments given as text [RIG-07.1]", () => {
  test.each([
    ["JSON in a text", '{"text": "a"}', { text: "a" }],
    ["a missing bracket", '{"text": "a"', { text: "a" }],
    [
      "missing brackets within",
      '{"text": "a", "place": {"x": 1, "y": 2}',
      { text: "a", place: { x: 1, y: 2 } },
    ],
    ["a cut behind a word", '{"text": "a", "loud": true', { text: "a", loud: true }],
    ["a bracket too many", '{"text": "a"}}', { text: "a" }],
    ["a trailing comma", '{"text": "a",}', { text: "a" }],
    ["a missing comma", '{"text": "a" "lines": 2}', { text: "a", lines: 2 }],
    ["single quotes", "{'text': 'it is \"so\", yes'}", { text: 'it is "so", yes' }],
    ["keys without quotes", '{text: "a"}', { text: "a" }],
    ["a text without quotes", "{text: hello world}", { text: "hello world" }],
    ["words of Python", '{"text": "a", "loud": True}', { text: "a", loud: true }],
    ["line breaks in a text", '{"text": "one\ntwo\tthree"}', { text: "one\ntwo\tthree" }],
    ["quotes within a text", '{"text": "echo "hi""}', { text: 'echo "hi"' }],
    ["escapes", '{"text": "\\u00e9\\n\\"\\\\ \\/",}', { text: 'é\n"\\ /' }],
    ["a Markdown fence", '```json\n{"text": "a"}\n```', { text: "a" }],
    ["a null that was said", '{"text": "a", "lines": null,}', { text: "a" }],
  ])("%s is read", (_, text, value) => {
    const result = recovered(text);
    expect(result.value).toEqual(value);
    expect(result.notes[0]).toMatch(/^arguments: JSON text (repaired|read)$/);
  });

  test.each([
    ["a cut within a text", '{"text": "rm -rf /home/ann'],
    ["a cut within an escape", '{"text": "a\\u26'],
    ["a cut behind a comma", '{"text": "a",'],
    ["a cut behind a colon", '{"text": "a", "lines":'],
    ["a cut within a number", '{"text": "a", "lines": 12'],
    ["a cut within a word", '{"text": "a", "loud": tr'],
    ["a cut behind a key", '{"text": "a", "parent"'],
    ["nothing but a bracket", "{"],
    ["a comment, which would be lost", '{"text": "a" /* all of it */}'],
    ["an ellipsis, which would be lost", '{"text": "a", ...}'],
    ["an escape that JSON does not know", '{"text": "\\d+",}'],
    ["a quote that would end early", '{"text": "b, "level": "low"}'],
    ["a key that comes twice", '{"text": "first", "text": "second",}'],
    ["a text joined of two", '{"text": "a" + "b"}'],
    ["a function's name", 'note({"text": "a"})'],
    ["words around it", 'Here it is: {"text": "a"}'],
    ["a rest that would become a field", "{text: echo a, b: c}"],
    ["no JSON at all", "hello"],
    ["a list", '[{"text": "a"}]'],
    ["a number", "12"],
  ])("%s is rejected with field, found and expected", (_, text) => {
    expect(refused(text)).toMatch(/^\w+: found .+, expected (a JSON object of text, lines|.+)/);
  });

  test("a rejection names what was found [RIG-07.2]", () => {
    expect(refused('{"text": "rm -rf /home/ann')).toMatch(
      /^arguments: found JSON that is cut off within a value or before one, expected a JSON object of text,/,
    );
    expect(refused('{"text": "a" /* b */}')).toContain("loose JSON that cannot be repaired without a guess");
    expect(refused("hello", make("ping", none))).toBe(
      "arguments: found a text that is not a JSON object, expected a JSON object without fields",
    );
  });

  test("repaired text must fit the schema", () => {
    expect(refused('{"lines": 2')).toMatch(/found JSON that is cut off/);
    expect(refused('{"lines": 2,}')).toBe("text: found nothing, expected text");
  });

  test("very deep or long text is rejected", () => {
    expect(refused(`{"text":${"[".repeat(100_000)}`)).toMatch(/^arguments: found/);
    expect(refused(`{"text": "a", "tags": ${"[".repeat(20_000)}${"]".repeat(20_000)},}`)).toMatch(/found/);
  });
});

describe("numbers, booleans and strings [RIG-07.1]", () => {
  test.each([
    ["lines", "12", 12],
    ["lines", "7", 7],
    ["weight", "-1.5", -1.5],
    ["weight", "0", 0],
    ["loud", "true", true],
    ["loud", "false", false],
    ["text", 12, "12"],
    ["text", 1.5, "1.5"],
    ["text", false, "false"],
    ["parent", 5, "5"],
    ["either", "5", 5],
    ["either", "true", true],
  ])("%s: %j is read as %j", (field, found, value) => {
    const result = recovered({ text: "a", [field]: found });
    expect(result.value).toEqual({ text: "a", [field]: value });
    expect(result.notes).toHaveLength(1);
    expect(result.notes[0]).toMatch(new RegExp(`^${field}: (string|number|boolean) read as `));
  });

  test.each([
    ["lines", "12.0"],
    ["lines", "1.5"],
    ["lines", " 12"],
    ["lines", "012"],
    ["lines", "+1"],
    ["lines", "1e3"],
    ["lines", "0x10"],
    ["lines", ""],
    ["lines", "twelve"],
    ["lines", "9007199254740993"],
    ["weight", "Infinity"],
    ["weight", "NaN"],
    ["weight", "-0"],
    ["weight", "0.1000000000000000055"],
    ["loud", "True"],
    ["loud", "yes"],
    ["loud", 1],
    ["text", 2 ** 53],
    ["text", ["a"]],
    ["text", null],
    ["either", "null"],
    ["lines", true],
  ])("%s: %j is rejected", (field, found) => {
    expect(refused({ text: "a", [field]: found })).toMatch(new RegExp(`^${field}: found .+, expected .+`));
  });

  test("a value that does not fit after its conversion either is rejected with the bound [RIG-07.2]", () => {
    expect(refused({ text: "a", lines: "0" })).toBe("lines: found the number 0, expected >= 1");
  });
});

describe("JSON text where an object or a list is expected [RIG-07.1]", () => {
  test("is parsed, and its own fields are repaired too", () => {
    expect(recovered({ text: "a", tags: '["b", "c"]', place: '{"x": 1, "y": "2"}' }).value).toEqual({
      text: "a",
      tags: ["b", "c"],
      place: { x: 1, y: 2 },
    });
  });

  test.each([
    ["place", '{"x": 1, "y": 2'],
    ["place", "[1, 2]"],
    ["place", "null"],
    ["tags", "b"],
    ["tags", '"b"'],
    ["tags", '{"0": "b"}'],
  ])("%s: %s is rejected", (field, found) => {
    expect(refused({ text: "a", [field]: found })).toBe(
      `${field}: found the text ${JSON.stringify(found)}, expected ${field === "tags" ? "a list" : "an object"}`,
    );
  });

  test("text stays text where text is expected, JSON or not", () => {
    expect(recovered({ text: '{"x": 1}' })).toMatchObject({ value: { text: '{"x": 1}' }, notes: [] });
  });
});

describe("unions, lists and maps", () => {
  test("a value is converted to the only form that fits", () => {
    expect(recovered({ text: "a", shape: { kind: "round", radius: "2" } }).value).toEqual({
      text: "a",
      shape: { kind: "round", radius: 2 },
    });
    expect(refused({ text: "a", shape: { kind: "flat", radius: 2 } })).toMatch(
      /^shape: found an object, expected/,
    );
  });

  test("a value that could be converted to two forms is rejected", () => {
    const forms = z.union([
      z.object({ a: z.number(), b: z.string() }),
      z.object({ a: z.string(), b: z.number() }),
    ]);
    const tool = make("choose", z.object({ it: forms }));
    expect(recovered({ it: { a: "1", b: 2 } }, tool).value).toEqual({ it: { a: "1", b: 2 } });
    expect(recovered({ it: { a: "one", b: "2" } }, tool).value).toEqual({ it: { a: "one", b: 2 } });
    expect(refused({ it: { a: "1", b: "2" } }, tool)).toBe(
      "it: found an object, expected one of the forms in the tool's schema",
    );
  });

  test("every item and every entry is checked", () => {
    expect(recovered({ text: "a", tags: ["b", 3], counts: { one: "1", two: 2 } }).value).toEqual({
      text: "a",
      tags: ["b", "3"],
      counts: { one: 1, two: 2 },
    });
    expect(refused({ text: "a", tags: ["b", null] })).toBe("tags.1: found null, expected text");
  });
});

describe("fields", () => {
  test("null for an optional field is dropped; where null is allowed it stays", () => {
    expect(recovered({ text: "a", lines: null, parent: null })).toMatchObject({
      value: { text: "a", parent: null },
      notes: ["lines: null dropped"],
      dropped: [],
    });
    expect(refused({ text: null })).toBe("text: found null, expected text");
  });

  test("an unknown field is dropped with a note", () => {
    expect(
      recovered({ text: "a", why: "because", place: { x: 1, y: 2, z: 3 }, strict: { a: "b", c: 1 } }),
    ).toMatchObject({
      value: { text: "a", place: { x: 1, y: 2 }, strict: { a: "b" } },
      dropped: ["strict.c", "why", "place.z"],
      notes: ["strict.c", "why", "place.z"].map((path) => `${path}: unknown field dropped`),
    });
  });

  test("a tool that accepts unknown fields receives them", () => {
    const open = make("open", z.looseObject({ text: z.string() }));
    expect(recovered({ text: "a", more: 1 }, open)).toMatchObject({
      value: { text: "a", more: 1 },
      dropped: [],
    });
    const closed = make("closed", z.strictObject({ text: z.string() }));
    expect(recovered({ text: "a", more: 1 }, closed)).toMatchObject({
      value: { text: "a" },
      dropped: ["more"],
    });
  });

  test("a missing required field is reported with the unknown name that was found", () => {
    expect(refused({ txt: "a" })).toBe("text: found nothing, expected text; unknown: txt");
  });

  test("a long name or value is not repeated in full", () => {
    const long = "x".repeat(5000);
    expect(refused({ [long]: 1, lines: long }).length).toBeLessThan(300);
    expect(recovered({ text: "a", [long]: 1 }).notes.join().length).toBeLessThan(100);
  });

  test("a field named __proto__ is an ordinary field", () => {
    const args = JSON.parse('{"text": 1, "__proto__": {"lines": 3}}') as unknown;
    expect(recovered(args).value).toEqual({ text: "1" });
  });

  test("conversions that a tool's own schema makes are left to it", () => {
    const generous = make("generous", z.object({ text: z.coerce.string(), n: z.coerce.number() }));
    expect(recovered({ text: 5, n: "1e3" }, generous)).toMatchObject({
      value: { text: "5", n: 1000 },
      notes: [],
    });
  });

  test("a constraint that JSON Schema cannot express is reported with the tool's own message", () => {
    const even = make("even", z.object({ n: z.number().refine((n) => n % 2 === 0, "must be even") }));
    expect(recovered({ n: "2" }, even).value).toEqual({ n: 2 });
    expect(refused({ n: "3" }, even)).toBe("n: must be even");
  });
});

describe("preserving the text", () => {
  const keeps = (source: string, value: unknown) => preservesText(scan(source), value);

  test("a quoted string is unchanged, even if a repair ends it elsewhere", () => {
    expect(keeps('{"a": "x [ 0"', { a: "x [ 0" })).toBe(true);
    expect(keeps('{"a": "x [ 0"', { a: 'x [ 0"' })).toBe(false);
    expect(keeps('{"a": "x, y"', { a: "x y" })).toBe(false);
    expect(keeps('{"a": ["x [ 0"],"b":"c"', { a: ['x [ 0"]', "b", ":", "c"] })).toBe(false);
  });

  test("unquoted text may gain spaces and quotes, and nothing else", () => {
    expect(keeps("{a: say hi", { a: "say  hi" })).toBe(true);
    expect(keeps('{a: "say "hi""', { a: 'say "hi"' })).toBe(true);
    expect(keeps("{a: say hi", { a: "say hi!" })).toBe(false);
    expect(keeps("{a: say hi", { a: "say h" })).toBe(false);
    expect(keeps("{a: say", { a: "say", b: null })).toBe(false);
  });

  test("one string does not become two, nor two one", () => {
    expect(keeps('{"a": "b", "c": "d"', { a: "b", c: "d" })).toBe(true);
    expect(keeps('{"a": "b", "c": "d"', { a: 'b", "c": "d' })).toBe(false);
    expect(keeps('{"a": "bc"', { a: "b", c: "" })).toBe(false);
  });
});

// Properties.

const value = fc.record(
  {
    text: fc.string(),
    lines: fc.integer({ min: 1, max: 1e9 }),
    weight: fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n)),
    loud: fc.boolean(),
    tags: fc.array(fc.string()),
    place: fc.record({ x: fc.integer(), y: fc.integer() }, { noNullPrototype: true }),
    parent: fc.option(fc.string()),
    level: fc.constantFrom("low", "high"),
    counts: fc.dictionary(
      fc.string().filter((key) => key !== "__proto__"),
      fc.integer(),
      { noNullPrototype: true },
    ),
  },
  { requiredKeys: ["text"], noNullPrototype: true },
);

/** Valid arguments, as a careless model would write them. */
const careless = fc
  .tuple(value, fc.array(fc.constantFrom("quote", "extra", "null", "list", "object", "text", "cut", "comma")))
  .map(([fields, habits]): { fields: unknown; written: unknown } => {
    const written: Record<string, unknown> = { ...fields };
    for (const habit of habits) {
      if (habit === "quote" && typeof written["lines"] === "number")
        written["lines"] = String(written["lines"]);
      if (habit === "quote" && typeof written["loud"] === "boolean")
        written["loud"] = String(written["loud"]);
      if (habit === "null" && !("level" in written)) written["level"] = null;
      if (habit === "list" && Array.isArray(written["tags"]))
        written["tags"] = JSON.stringify(written["tags"]);
      if (habit === "object" && typeof written["place"] === "object")
        written["place"] = JSON.stringify(written["place"]);
      if (habit === "extra") written["extra"] = 1;
    }
    return { fields, written: habits.includes("text") ? JSON.stringify(written) : written };
  });

describe("properties", () => {
  test("a valid call is never changed", () => {
    fc.assert(
      fc.property(value, (args) => {
        const before = JSON.stringify(args);
        expect(recovered(args)).toMatchObject({ value: args, notes: [], dropped: [] });
        expect(JSON.stringify(args)).toBe(before);
      }),
      { numRuns: 1000 },
    );
  });

  test("careless arguments are read as intended, and a second repair changes nothing", () => {
    fc.assert(
      fc.property(careless, ({ fields, written }) => {
        const once = recovered(written);
        expect(once.value).toEqual(fields);
        expect(recovered(once.value)).toMatchObject({ value: once.value, notes: [] });
      }),
      { numRuns: 1000 },
    );
  });

  test("JSON text that is cut off anywhere is read without loss, or rejected", () => {
    fc.assert(
      fc.property(value, fc.nat(), (args, cut) => {
        const whole = JSON.stringify(args);
        const at = cut % whole.length;
        const reading = readLooseObject(whole.slice(0, at));
        if (!reading.ok) return;
        // Every field that the text has begun is present, with the intended value.
        for (const [name, field] of Object.entries(reading.value)) {
          const meant = (args as Record<string, unknown>)[name];
          if (Array.isArray(field)) expect((meant as unknown[]).slice(0, field.length)).toEqual(field);
          else if (typeof field === "object" && field !== null) expect(meant).toMatchObject(field);
          else expect(field).toEqual(meant);
        }
        expect(preservesText(scan(whole.slice(0, at)), reading.value)).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  test("whatever is read from loose text contains every letter of it, in order", () => {
    const pieces = fc.array(
      fc.oneof(
        fc.constantFrom(
          "{",
          "}",
          "[",
          "]",
          ",",
          ":",
          '"',
          "'",
          "\\",
          "\n",
          " ",
          "/*",
          "*/",
          "//",
          "...",
          "+",
          "null",
        ),
        fc.constantFrom('"text"', '"text":', "text:", '"a b"', "True", "12", "\\d", "```", "x", "é"),
      ),
      { maxLength: 12 },
    );
    let read = 0;
    fc.assert(
      fc.property(pieces, fc.boolean(), (parts, wrapped) => {
        const text = wrapped ? `{"text":${parts.join("")}}` : parts.join("");
        const reading = readLooseObject(text);
        if (!reading.ok || !reading.isRepaired) return;
        read += 1;
        const found = JSON.stringify(reading.value);
        const said = JSON.stringify(text);
        const letters = (source: string) => source.toLowerCase().replace(/\\[nt"\\]|[^a-z0-9é]/g, "");
        expect(letters(found)).toBe(letters(said).replace(/^json/, ""));
      }),
      { numRuns: 20_000 },
    );
    // One text in two hundred can be repaired: too rare to rely on in a few runs.
    if (isThorough) expect(read).toBeGreaterThan(50);
  });

  test("no arguments make it throw", () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.json(), fc.string()), (args) => {
        const result = recover(args);
        if ("message" in result) expect(result.message).toMatch(/: /);
        else expect(note.parse(result.value).ok).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });
});
