// Writes the recorded histories with the names of renames.json: node test/histories/rename.mjs [FOLDER] (default: recorded).
// A rule's pattern is matched against where a value stands: the event, the activity, and the path in new names.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const here = import.meta.dirname;
const folder = process.argv[2] ?? join(here, "recorded");
const renames = JSON.parse(readFileSync(join(here, "renames.json"), "utf8"));
const fields = renames.fields.map(([pattern, names]) => [new RegExp(pattern), names]);
const values = renames.values.map(([pattern, names]) => [new RegExp(pattern), names]);
const lookUp = (rules, path, name) =>
  rules.find(([pattern, names]) => pattern.test(path) && Object.hasOwn(names, name))?.[1][name] ?? name;

function rename(value, path) {
  if (typeof value === "string") return lookUp(values, path, value);
  if (Array.isArray(value)) return value.map((one) => rename(one, `${path}[]`));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      const now = lookUp(fields, path, name);
      return [now, rename(one, `${path}.${now}`)];
    }),
  );
}

function renamePayloads(holder, path) {
  for (const payload of holder?.payloads ?? []) {
    const text = Buffer.from(payload.data ?? "", "base64").toString();
    if (text === "") continue;
    payload.data = Buffer.from(JSON.stringify(rename(JSON.parse(text), path))).toString("base64");
  }
}

const activityName = (name) => renames.activities[name] ?? name;

function renameHistory({ events }) {
  const activities = new Map();
  const updates = new Map();
  let workflow = "";
  for (const event of events) {
    const [key] = Object.keys(event).filter((name) => name.endsWith("EventAttributes"));
    const attributes = event[key] ?? {};
    if (attributes.activityType !== undefined) {
      attributes.activityType.name = activityName(attributes.activityType.name);
      activities.set(event.eventId, attributes.activityType.name);
    }
    const activity = activities.get(attributes.scheduledEventId) ?? activities.get(event.eventId) ?? "";
    if (key === "workflowExecutionStartedEventAttributes") workflow = attributes.workflowType.name;
    if (attributes.signalName !== undefined) {
      attributes.signalName = renames.signals[attributes.signalName] ?? attributes.signalName;
    }
    const kind = attributes.workflowType?.name ?? workflow;
    if (key.startsWith("workflowExecutionUpdateAccepted")) {
      const { name, args } = attributes.acceptedRequest.input;
      updates.set(event.eventId, name);
      renamePayloads(args, `update ${name} argument`);
    } else if (key.startsWith("workflowExecutionUpdateCompleted")) {
      const name = updates.get(attributes.acceptedEventId);
      renamePayloads(attributes.outcome?.success, `update ${name} result`);
    } else if (key === "markerRecordedEventAttributes") {
      const [data] = attributes.details.data.payloads;
      const about = JSON.parse(Buffer.from(data.data, "base64").toString());
      if (about.activity_type !== undefined) about.activity_type = activityName(about.activity_type);
      data.data = Buffer.from(JSON.stringify(about)).toString("base64");
      renamePayloads(attributes.details.result, `marker ${about.activity_type} result`);
    } else if (activity !== "") {
      renamePayloads(attributes.input, `scheduled ${activity} input`);
      renamePayloads(attributes.result, `completed ${activity} result`);
    } else {
      renamePayloads(attributes.input, `workflow ${kind} input`);
      renamePayloads(attributes.result, `workflow ${kind} result`);
    }
    renamePayloads(attributes.failure?.applicationFailureInfo?.details, "failure details");
  }
}

for (const file of readdirSync(folder)) {
  const path = join(folder, file);
  const history = JSON.parse(readFileSync(path, "utf8"));
  renameHistory(history);
  writeFileSync(path, `${JSON.stringify(history)}\n`);
}
