// What a tool may ask a person while it runs, and what a person may say.

export type UserQuestion =
  /** For values that fit a JSON Schema of an object with plain fields. */
  | { readonly type: "form"; readonly message: string; readonly schema: Readonly<Record<string, unknown>> }
  /** To open an address and do something there; what is done there does not pass through us. */
  | { readonly type: "url"; readonly message: string; readonly url: string };

export type UserValues = Readonly<Record<string, string | number | boolean | string[]>>;

export type UserAnswer =
  | { readonly type: "accept"; readonly values?: UserValues }
  | { readonly type: "decline" }
  | { readonly type: "cancel" };

export type AskUser = (question: UserQuestion) => Promise<UserAnswer>;
