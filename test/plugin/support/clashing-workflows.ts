/** A workflow of an application that has the name of one of Holdfast's. */
export async function pipeline(): Promise<string> {
  return "not Holdfast's";
}
