import { join } from "node:path";
import ts from "typescript";
import type { Protocol } from "../../../src/schema/model.ts";

// Requests, checked by the compiler against the types of the vendors' own SDKs: every body is written as a literal
// of that type, one per line.

/** The type in JSON: bytes are base64, and a member of an enumeration is a string. */
const PLAIN = `type Plain<T> = T extends Uint8Array ? string : T extends string ? \`\${T}\`
  : T extends readonly (infer U)[] ? Plain<U>[] : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;`;

const MESSAGES = `import type { MessageCreateParamsStreaming as Body } from "@anthropic-ai/sdk/resources/messages";`;
const COMPLETIONS = `import type { ChatCompletionCreateParamsStreaming as Body } from "openai/resources/chat/completions";`;
const RESPONSES = `import type { ResponseCreateParamsStreaming as Body } from "openai/resources/responses/responses";`;
/** Google's SDK has no type for the body as a whole: its parts have the types of the API's fields. */
const GEMINI = `import type { Content, GenerationConfig, Tool, ToolConfig } from "@google/genai";
${PLAIN}
type Body = Plain<{ contents: Content[]; systemInstruction?: Content; tools?: Tool[]; toolConfig?: ToolConfig;
  generationConfig?: GenerationConfig; serviceTier?: string }>;`;
const CONVERSE = `import type { ConverseStreamCommandInput } from "@aws-sdk/client-bedrock-runtime";
${PLAIN}
type Body = Plain<Omit<ConverseStreamCommandInput, "modelId" | "messages"> & Required<Pick<ConverseStreamCommandInput, "messages">>>;`;

const HEADS: Readonly<Record<Protocol, string>> = {
  anthropic_messages: MESSAGES,
  openai_completions: COMPLETIONS,
  openai_responses: RESPONSES,
  azure_openai_responses: RESPONSES,
  google_generative_ai: GEMINI,
  google_vertex: GEMINI,
  bedrock_converse_stream: CONVERSE,
};

export type TypeProblem = { readonly protocol: Protocol; readonly index: number; readonly message: string };

const OPTIONS: ts.CompilerOptions = {
  strict: true,
  skipLibCheck: true,
  noEmit: true,
  target: ts.ScriptTarget.ES2022,
  lib: ["lib.es2023.d.ts"],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: ["node"],
};

/** The compiler's errors in bodies, by their index in the list of their protocol. */
export function checkTypes(bodies: Readonly<Record<Protocol, readonly object[]>>): TypeProblem[] {
  const files = new Map(
    (Object.keys(bodies) as Protocol[]).map((protocol) => {
      const head = `${HEADS[protocol].replace(/\n\s*/g, " ")}`;
      const lines = bodies[protocol].map(
        (body, nth) => `export const b${nth}: Body = ${JSON.stringify(body)};`,
      );
      return [
        join(import.meta.dirname, `${protocol}.virtual.ts`),
        { protocol, text: [head, ...lines].join("\n") },
      ];
    }),
  );
  const host = ts.createCompilerHost(OPTIONS);
  const { readFile, fileExists, getSourceFile } = host;
  host.fileExists = (name) => files.has(name) || fileExists(name);
  host.readFile = (name) => files.get(name)?.text ?? readFile(name);
  host.getSourceFile = (name, version, ...more) => {
    const text = files.get(name)?.text;
    return text === undefined
      ? getSourceFile(name, version, ...more)
      : ts.createSourceFile(name, text, version);
  };
  const program = ts.createProgram([...files.keys()], OPTIONS, host);
  return [...files].flatMap(([name, { protocol }]) => {
    const file = program.getSourceFile(name);
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(
      ({ start = 0, messageText }) => {
        const nth = (file?.getLineAndCharacterOfPosition(start).line ?? 0) - 1;
        return {
          protocol,
          index: nth,
          message: ts.flattenDiagnosticMessageText(messageText, " ").slice(0, 500),
        };
      },
    );
  });
}
