import { expect, test } from "vitest";
import { fromUiParts, toUiUserMessage } from "../../src/apps/server/ui-file.ts";

const file = (url: unknown, more: object = {}) => ({ type: "file", url, mediaType: "image/png", ...more });

test("a page's files become parts with their bytes", () => {
  const parts = [
    { type: "text", text: "See" },
    file("data:image/png;base64,AAAA", { filename: "a.png" }),
    file("data:text/plain;charset=utf-8;base64,aGk=", { mediaType: "" }),
    file("data:text/markdown,%23%20Gr%C3%B6%C3%9Fe", { mediaType: "text/markdown" }),
  ];
  expect(fromUiParts(parts)).toEqual([
    { type: "text", text: "See" },
    { type: "file", data: "AAAA", name: "a.png", mimeType: "image/png" },
    { type: "file", data: "aGk=", mimeType: "text/plain" },
    { type: "file", bytes: Buffer.from("# Größe"), mimeType: "text/markdown" },
  ]);
});

test.each([
  ["an address", file("https://example.com/a.png"), "loads no addresses"],
  ["a file of the server", file("file:///etc/passwd"), "loads no addresses"],
  ["a path in another field", { type: "file", path: "/etc/passwd" }, "loads no addresses"],
  ["no text", file(7), "loads no addresses"],
  ["a damaged address", file("data:text/plain,%ZZ"), "damaged"],
  ["another part", { type: "tool-x" }, 'type "tool-x"'],
])("the server refuses %s", (_, part, reason) => {
  expect(() => fromUiParts([part])).toThrow(reason);
});

test("a page receives the images and files of a message as it sends them", () => {
  const content = [
    { type: "text" as const, text: "See" },
    { type: "file" as const, mimeType: "application/pdf", name: "a.pdf", data: "AAAA" },
  ];
  const files = [
    {
      type: "file",
      url: "data:application/pdf;base64,AAAA",
      mediaType: "application/pdf",
      filename: "a.pdf",
    },
  ];
  expect(toUiUserMessage(content)).toEqual({ text: "See", files });
  expect(toUiUserMessage(content.slice(0, 1))).toEqual({ text: "See" });
});
