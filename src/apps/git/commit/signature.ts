/** Who wrote a commit, and when. */
export type Signature = {
  readonly name: string;
  readonly email: string;
  /** Unix seconds. */
  readonly time: number;
  /** The offset from UTC, such as `+0100`. */
  readonly zone: string;
};

/** Returns the variables by which git takes the signature of a commit. */
export function toEnvironment(
  role: "AUTHOR" | "COMMITTER",
  { name, email, time, zone }: Signature,
): Record<string, string> {
  return {
    [`GIT_${role}_NAME`]: name,
    [`GIT_${role}_EMAIL`]: email,
    [`GIT_${role}_DATE`]: `@${time} ${zone}`,
  };
}
