// What a tool may ask the user while it runs, and what the user may answer.

export type UserQuestion =
  /** Asks for values that match a JSON Schema of an object with plain fields. */
  | { readonly type: "form"; readonly message: string; readonly schema: Readonly<Record<string, unknown>> }
  /** Asks the user to open an address and act there; Holdfast does not see what happens there. */
  | { readonly type: "url"; readonly message: string; readonly url: string };

export type UserValues = Readonly<Record<string, string | number | boolean | string[]>>;

export type UserAnswer =
  | { readonly type: "accept"; readonly values?: UserValues }
  | { readonly type: "decline" }
  | { readonly type: "cancel" };

export type AskUser = (question: UserQuestion) => Promise<UserAnswer>;
