import { $RefParser } from "@apidevtools/json-schema-ref-parser";
import type { OpenApiSettings } from "../../../schema/openapi.ts";
import { ToolSourceError } from "../tool-source.ts";
import { isObject, type JsonObject } from "./json.ts";
import { checkBounds, parseText } from "./parse-document.ts";
import { readReferenced } from "./read-document.ts";

/** References that lead from one to the next. */
const MAX_CHAIN = 32;
/** Documents that one leads to. */
const MAX_DOCUMENTS = 64;

/** What a document refers to cannot be had; what needs it is left out. */
export class UnresolvedReferenceError extends Error {
  override readonly name = "UnresolvedError";
}

type Limits = Pick<OpenApiSettings, "allowRemoteRefs" | "limits">;

/** The references of one document. Other documents are read where that is allowed, and become a part of it. */
export class References {
  readonly root: JsonObject;
  readonly #resolvePointer: (pointer: string) => unknown;
  readonly #resolved = new Map<string, unknown>();
  readonly #allowsRemote: boolean;

  private constructor(root: JsonObject, get: (pointer: string) => unknown, allowed: boolean) {
    this.root = root;
    this.#resolvePointer = get;
    this.#allowsRemote = allowed;
  }

  /** @param bytes - Of the document itself, which count too. */
  static async load(root: JsonObject, address: string, bytes: number, limits: Limits): Promise<References> {
    const parser = new $RefParser();
    const { allowRemoteRefs } = limits;
    const external = new ExternalDocuments(address, bytes, limits);
    const options = {
      resolve: {
        external: allowRemoteRefs,
        file: false,
        http: false,
        ours: { order: 1, canRead: true, read: (file: { url: string }) => external.read(file.url) },
      },
      // What `read` gives is parsed already.
      parse: { json: false, yaml: false, text: false, binary: false, ours: passThroughParser },
    } as const;
    try {
      if (allowRemoteRefs) await parser.bundle(address, root as object, options);
      else await parser.resolve(address, root as object, options);
    } catch (error) {
      if (external.rejection !== undefined) throw external.rejection;
      throw new ToolSourceError(`What ${address} refers to cannot be read: ${(error as Error).message}`);
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
      if (steps >= MAX_CHAIN) throw new UnresolvedReferenceError(`${here.$ref} leads to itself`);
      here = this.resolve(here.$ref);
    }
    return here;
  }

  resolve(reference: string): unknown {
    if (!reference.startsWith("#")) {
      const reason = this.#allowsRemote
        ? "could not be read"
        : "is in another document, and allowRemoteRefs is off";
      throw new UnresolvedReferenceError(`${reference} ${reason}`);
    }
    const known = this.#resolved.get(reference);
    if (known !== undefined) return known;
    try {
      const found = this.#resolvePointer(reference);
      if (typeof found !== "function" && found !== undefined) {
        this.#resolved.set(reference, found);
        return found;
      }
    } catch {
      // Said below.
    }
    throw new UnresolvedReferenceError(`${reference} leads nowhere`);
  }
}

const passThroughParser = {
  order: 1,
  allowEmpty: true,
  canParse: true,
  parse: (file: { data: unknown }) => file.data,
};

/** What one document refers to, read within the bounds of all together. */
class ExternalDocuments {
  /** Why the first could not be had; the parser has its own words for it. */
  rejection: ToolSourceError | undefined;
  readonly #root: string;
  readonly #limits: OpenApiSettings["limits"];
  #bytes: number;
  #documents = 0;

  constructor(root: string, ownBytes: number, { limits }: Limits) {
    this.#root = root;
    this.#bytes = ownBytes;
    this.#limits = limits;
  }

  /** @returns What the text says, which the parser takes as it is. */
  async read(address: string): Promise<string> {
    try {
      this.#documents += 1;
      if (this.#documents > MAX_DOCUMENTS) {
        throw new ToolSourceError(`${this.#root} refers to more than ${MAX_DOCUMENTS} documents`);
      }
      const remainingBytes = this.#limits.maxDocumentBytes - this.#bytes;
      const { text } = await readReferenced(address, this.#root, remainingBytes);
      this.#bytes += text.length;
      const value = parseText(text, address);
      checkBounds(value, address, this.#limits);
      return value as string;
    } catch (error) {
      if (error instanceof ToolSourceError) this.rejection ??= error;
      throw error;
    }
  }
}

export function isReference(value: unknown): value is JsonObject & { readonly $ref: string } {
  return isObject(value) && typeof value["$ref"] === "string";
}
