import { $RefParser } from "@apidevtools/json-schema-ref-parser";
import type { OpenApiSettings } from "../schema/openapi.ts";
import { OutsideError } from "../tools/outside/source.ts";
import { isObject, type JsonObject } from "./json.ts";
import { measure, parseText } from "./parse-document.ts";
import { readReferred } from "./read-document.ts";

/** References that lead from one to the next. */
const MAX_CHAIN = 32;
/** Documents that one leads to. */
const MAX_DOCUMENTS = 64;

/** What a document refers to cannot be had; what needs it is left out. */
export class UnresolvedError extends Error {
  override readonly name = "UnresolvedError";
}

type Limits = Pick<OpenApiSettings, "allowRemoteRefs" | "limits">;

/** The references of one document. Other documents are read where that is allowed, and become a part of it. */
export class References {
  readonly root: JsonObject;
  readonly #get: (pointer: string) => unknown;
  readonly #allowed: boolean;

  private constructor(root: JsonObject, get: (pointer: string) => unknown, allowed: boolean) {
    this.root = root;
    this.#get = get;
    this.#allowed = allowed;
  }

  /** @param bytes - Of the document itself, which count too. */
  static async of(root: JsonObject, address: string, bytes: number, limits: Limits): Promise<References> {
    const parser = new $RefParser();
    const { allowRemoteRefs } = limits;
    const options = {
      resolve: {
        external: allowRemoteRefs,
        file: false,
        http: false,
        ours: { order: 1, canRead: true, read: reader(address, bytes, limits) },
      },
      // What `read` gives is parsed already.
      parse: { json: false, yaml: false, text: false, binary: false, ours: asItIs },
    } as const;
    try {
      if (allowRemoteRefs) await parser.bundle(address, root as object, options);
      else await parser.resolve(address, root as object, options);
    } catch (error) {
      if (error instanceof OutsideError) throw error;
      throw new OutsideError(`What ${address} refers to cannot be read: ${(error as Error).message}`);
    }
    return new References(
      parser.schema as JsonObject,
      (pointer) => parser.$refs.get(pointer),
      allowRemoteRefs,
    );
  }

  /** What is meant: the value itself, or where its references lead. */
  follow(value: unknown): unknown {
    let here = value;
    for (let steps = 0; isReference(here); steps += 1) {
      if (steps >= MAX_CHAIN) throw new UnresolvedError(`${here.$ref} leads to itself`);
      here = this.at(here.$ref);
    }
    return here;
  }

  at(reference: string): unknown {
    if (!reference.startsWith("#")) {
      const why = this.#allowed ? "could not be read" : "is in another document, and allowRemoteRefs is off";
      throw new UnresolvedError(`${reference} ${why}`);
    }
    try {
      const found = this.#get(reference);
      if (typeof found !== "function" && found !== undefined) return found;
    } catch {
      // Said below.
    }
    throw new UnresolvedError(`${reference} leads nowhere`);
  }
}

const asItIs = { order: 1, allowEmpty: true, canParse: true, parse: (file: { data: unknown }) => file.data };

function reader(root: string, ownBytes: number, { limits }: Limits) {
  let bytes = ownBytes;
  let documents = 0;
  return async (file: { url: string }): Promise<string> => {
    documents += 1;
    if (documents > MAX_DOCUMENTS)
      throw new OutsideError(`${root} refers to more than ${MAX_DOCUMENTS} documents`);
    const { text } = await readReferred(file.url, root, limits.maxDocumentBytes - bytes);
    bytes += text.length;
    const value = parseText(text, file.url);
    measure(value, file.url, limits);
    return value as string;
  };
}

export function isReference(value: unknown): value is JsonObject & { readonly $ref: string } {
  return isObject(value) && typeof value["$ref"] === "string";
}
