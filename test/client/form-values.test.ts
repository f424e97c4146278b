import { describe, expect, test } from "vitest";
import { checkFormValues, listFormFields, parseTypedValue } from "../../src/client/runs/form-values.ts";

const schema = {
  type: "object",
  properties: {
    name: { type: "string", title: "Your name", minLength: 2, maxLength: 5 },
    mail: { type: "string", format: "email" },
    day: { type: "string", format: "date" },
    size: {
      type: "string",
      oneOf: [
        { const: "s", title: "Small" },
        { const: "l", title: "Large" },
      ],
    },
    copies: { type: "integer", minimum: 1, maximum: 9, default: 1 },
    agreed: { type: "boolean" },
    colours: { type: "array", maxItems: 2, items: { enum: ["red", "green", "blue"] } },
  },
  required: ["name"],
};

describe("values of a form that a tool asks the user for", () => {
  test("that fit are completed with the form's defaults", () => {
    const given = {
      name: "Ada",
      mail: "a@b.c",
      day: "2026-11-23",
      size: "l",
      agreed: false,
      colours: ["red"],
    };
    expect(checkFormValues(schema, given)).toEqual({ ok: true, values: { ...given, copies: 1 } });
  });

  test("that do not fit are each named, with the actual and the expected value", () => {
    const given = {
      mail: "a",
      day: "2026-13-40",
      size: "m",
      copies: 1.5,
      agreed: "yes",
      colours: ["pink"],
      age: 3,
    };
    const fitted = checkFormValues(schema, given);
    expect(fitted.ok ? [] : fitted.problems).toEqual([
      expect.stringMatching(/^age: unknown field; the form has name, mail/),
      "name: required (a text of 2 to 5 letters)",
      'mail: found "a", expected a text (email)',
      'day: found "2026-13-40", expected a text (date)',
      'size: found "m", expected one of "s", "l"',
      "copies: found 1.5, expected a whole number of 1 to 9",
      'agreed: found "yes", expected true or false',
      'colours: found ["pink"], expected a list of "red", "green", "blue" of at most 2',
    ]);
    expect(checkFormValues(schema, { name: "Augusta" }).ok).toBe(false);
    expect(checkFormValues(schema, { name: "Ada", colours: ["red", "green", "blue"] }).ok).toBe(false);
  });

  test("are parsed from typed text by the type of the field", () => {
    const typed = (name: string, text: string) => parseTypedValue(schema, name, text);
    expect([typed("name", "12"), typed("copies", "2"), typed("agreed", "true")]).toEqual(["12", 2, true]);
    expect([typed("colours", "red, blue"), typed("colours", '["red"]'), typed("copies", "two")]).toEqual([
      ["red", "blue"],
      ["red"],
      "two",
    ]);
  });

  test("an invalid schema asks for nothing, and names such as __proto__ are ordinary names", () => {
    expect(listFormFields({ properties: { a: 7 } })).toMatchObject([{ name: "a", required: false }]);
    expect(checkFormValues({ properties: "no" }, {})).toEqual({ ok: true, values: {} });
    expect(checkFormValues(schema, JSON.parse('{"name":"Ada","__proto__":"x","toString":"y"}')).ok).toBe(
      false,
    );
  });
});
