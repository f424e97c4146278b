import type { FileContent } from "../../../src/schema/message.ts";
import { answer, call, conversation, PNG, READ, result, user } from "./conversation.ts";

const toBase64 = (text: string) => Buffer.from(text, "utf8").toString("base64");

const PDF: FileContent = {
  type: "file",
  mimeType: "application/pdf",
  name: "report.pdf",
  data: toBase64("%PDF-1.4\n1 0 obj\n<< /Type /Page >>\nendobj\n%%EOF\n"),
  pages: 1,
};
const NOTES: FileContent = {
  type: "file",
  mimeType: "text/markdown",
  name: "notes.md",
  data: toBase64("# Größe\n\nTwo lines\n"),
};
const OPEN_END: FileContent = { ...NOTES, name: "a.csv", mimeType: "text/csv", data: toBase64("a,b\n1,2") };

const tools = [READ];

export const FILES = [
  conversation("a document in a prompt", [user("Summarise", PDF)]),
  conversation("a document and nothing else", [user(PDF)]),
  conversation("text files in a prompt", [user("Compare", NOTES, OPEN_END)]),
  conversation("a picture, a document and a text file", [user(PNG, PDF, NOTES, "What do they share?")]),
  conversation(
    "a document as a result",
    [user("Look"), answer("openai", [call("c1")]), result("c1", [PDF])],
    {
      tools,
    },
  ),
  conversation(
    "documents of one name, in a prompt and in results",
    [
      user("Look", PDF),
      answer("anthropic", [call("c1"), call("c2", { path: "b.pdf" })]),
      result("c1", ["Here:", PDF]),
      result("c2", [PDF, PNG]),
      user("And?", { ...PDF, name: "../Bericht für: März_2026.PDF" }),
    ],
    { tools },
  ),
  conversation(
    "a text file as a result",
    [user("Look"), answer("google", [call("c1")]), result("c1", [NOTES]), user("And?")],
    { tools },
  ),
];
