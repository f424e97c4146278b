import { isObject, type JsonObject } from "../../../platform/text/json.ts";
import type { OpenApiSettings } from "../../../schema/openapi.ts";
import { ToolSourceError } from "../tool-source.ts";
import { checkBounds, parseText } from "./parse-document.ts";
import { readReferenced } from "./read-document.ts";
import { $RefParser } from "./ref-parser.ts";

/** The longest chain of references. */
const MAX_CHAIN = 32;
/** The most documents that one document refers to, directly or not. */
const MAX_DOCUMENTS = 64;

/** A reference cannot be resolved. The operation that needs it is skipped. */
export class UnresolvedReferenceError extends Error {
  override readonly name = "UnresolvedError";
}

type Limits = Pick<OpenApiSettings, "allowRemoteRefs" | "limits">;

/** The references of one document. Other documents are read if that is allowed, and become a part of it. */
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

  /** @param bytes - The size of the document itself, which counts toward the limit. */
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
      // The value that `read` returns is already parsed.
      parse: { json: false, yaml: false, text: false, binary: false, ours: passThroughParser },
    } as const;
    try {
      if (allowRemoteRefs) await parser.bundle(address, root as object, options);
      else await parser.resolve(address, root as object, options);
    } catch (error) {
      if (external.rejection !== undefined) throw external.rejection;
      throw new ToolSourceError(`A reference of ${address} cannot be read: ${(error as Error).message}`);
    }
    return new References(
      parser.schema as JsonObject,
      (pointer) => parser.$refs.get(pointer),
      allowRemoteRefs,
    );
  }

  /** Returns the value itself, or the target of its references. */
  follow(value: unknown): unknown {
    let here = value;
    for (let steps = 0; isReference(here); steps += 1) {
      if (steps >= MAX_CHAIN) throw new UnresolvedReferenceError(`${here.$ref} refers to itself`);
      here = this.resolve(here.$ref);
    }
    return here;
  }

  resolve(reference: string): unknown {
    if (!reference.startsWith("#")) {
      const reason = this.#allowsRemote
        ? "could not be read"
        : "is in another document, and allowRemoteRefs is false";
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
      // The error below reports it.
    }
    throw new UnresolvedReferenceError(`${reference} has no target`);
  }
}

const passThroughParser = {
  order: 1,
  allowEmpty: true,
  canParse: true,
  parse: (file: { data: unknown }) => file.data,
};

/** Reads the documents that one document refers to, within common limits. */
class ExternalDocuments {
  /** The first failure. The parser replaces it with a message of its own. */
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

  /** @returns The parsed text, which the parser uses unchanged. */
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
