// What a tool may ask the user while it runs, and what the user may answer.

/** What a tool asks the user. */
export type UserQuestion =
  /** Asks for values that match a JSON Schema of an object with plain fields. */
  | {
      readonly type: "form";
      /** What is asked, for people. */
      readonly message: string;
      /** The JSON Schema of the values. */
      readonly schema: Readonly<Record<string, unknown>>;
    }
  /** Asks the user to open an address and act there; Holdfast does not see what happens there. */
  | {
      readonly type: "url";
      /** Why the address is to be opened, for people. */
      readonly message: string;
      /** The address. */
      readonly url: string;
    };

/** The values that a user gives, by field. */
export type UserValues = Readonly<Record<string, string | number | boolean | string[]>>;

/** The user's answer to a question of a tool. */
export type UserAnswer =
  | {
      readonly type: "accept";
      /** What the user filled in. */
      readonly values?: UserValues;
    }
  | { readonly type: "decline" }
  | { readonly type: "cancel" };

/** Asks the user, and resolves with the answer. */
export type AskUser = (question: UserQuestion) => Promise<UserAnswer>;
