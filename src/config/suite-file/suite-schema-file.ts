import { z } from "zod";
import { insertReference } from "../agent-file/format-reference.ts";
import { formatSchemaFile, type JsonSchema } from "../agent-file/json-schema.ts";
import { SuiteFile } from "./suite-file-schema.ts";

/** Formats the published schema of suite files as the file in the package, which only programs read. */
export function formatSuiteSchema(): string {
  return formatSchemaFile(SuiteFile, "A suite file of Holdfast");
}

/** Inserts the current reference of suite files between the marks of a page. */
export function insertSuiteReference(page: string): string {
  return insertReference(
    page,
    z.toJSONSchema(SuiteFile, { io: "input", unrepresentable: "any" }) as JsonSchema,
  );
}
