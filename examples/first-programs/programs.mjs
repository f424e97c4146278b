// What each program needs, what the scripted model answers, and what must come of it.
import { check } from "../run-example.mjs";

const RECIPE = { title: "Pancakes", minutes: 20, ingredients: [{ name: "flour", grams: 200 }] };
const COUNTRIES = { Ulm: "Germany", Porto: "Portugal", Oslo: "Norway", Pune: "India", Lima: "Peru" };

/**
 * `needs`: a `worker` that is there already, as `holdfast dev` starts it; a `server` for the program's own worker; or `nothing`.
 * `play` receives `start(args, flags)`, which starts the program, and the scripted model.
 */
export const PROGRAMS = {
  "stream-to-page": {
    needs: "worker",
    script: {
      replies: [{ text: "Because of the way light scatters.", holdUntil: "the page", chunkSize: 4 }],
    },
    async play({ name, start, model }) {
      const program = start();
      const [, address] = await program.waitForOutput(/(http:\S+)/);
      const page = await (await fetch(`${address}/?q=Why%20is%20the%20sky%20blue`)).text();
      check(`${name}: the page asks for the answer`, page.includes('fetch("/answer?q="'));
      const reader = (await fetch(`${address}/answer?q=Why%20is%20the%20sky%20blue`)).body
        .pipeThrough(new TextDecoderStream())
        .getReader();
      let text = (await reader.read()).value;
      check(`${name}: the page has text while the model still writes`, "Because of the way".startsWith(text));
      model.release("the page");
      for (let read = await reader.read(); !read.done; read = await reader.read()) text += read.value;
      check(`${name}: the page has the whole answer`, text === "Because of the way light scatters.");
      program.kill();
    },
  },
  "approve-tool": {
    needs: "server",
    script: {
      replies: [
        { toolCalls: [{ name: "refund", arguments: { order: "A-17", cents: 1250 } }] },
        { text: "That is settled." },
      ],
    },
    async play({ name, start, model }) {
      const approved = await answer(start(), "y");
      check(
        `${name}: the user is asked`,
        approved.includes('Run refund with {"order":"A-17","cents":1250}?'),
      );
      check(`${name}: an approved call runs once`, approved.split("[bank] 1250 cents").length === 2);
      const denied = await answer(start(), "n");
      check(`${name}: a denied call does not run`, !denied.includes("[bank]"));
      check(`${name}: the model reads why`, getBody(model, -1).includes("The shopkeeper says no."));
    },
  },
  "typed-output": {
    needs: "worker",
    script: { replies: [{ text: JSON.stringify(RECIPE) }] },
    async play({ name, start }) {
      const output = await start().end();
      check(
        `${name}: the fields of the answer are printed`,
        output === "Pancakes, 20 minutes\n- 200 g flour\n",
      );
    },
  },
  "agent-in-workflow": {
    needs: "server",
    script: { replies: [{ text: '{"reply": "Your password has expired.", "urgent": true}' }] },
    async play({ name, start, model }) {
      const output = await start().end();
      check(
        `${name}: the workflow's activity sends the reply`,
        output.includes("[mail] T-1: Your password has expired."),
      );
      check(`${name}: the workflow returns what the agent found`, output.includes("urgency: urgent"));
      check(`${name}: the agent reads the ticket`, getBody(model, 0).includes("I cannot log in"));
    },
  },
  "resume-session": {
    needs: "worker",
    script: { replies: [{ text: "A nice name." }, { text: "Her name is Minka." }] },
    async play({ name, start, model }) {
      const yesterday = await start(["My cat is called Minka."]).end();
      check(`${name}: the first process begins the session`, yesterday === "opened: A nice name.\n");
      const today = await start(["What is my cat called?"]).end();
      check(`${name}: the second one continues it`, today === "prompted: Her name is Minka.\n");
      check(
        `${name}: the model reads what was said yesterday`,
        getBody(model, -1).includes("My cat is called Minka."),
      );
    },
  },
  "fan-out": {
    needs: "worker",
    script: {
      conversations: Object.entries(COUNTRIES).map(([city, text]) => ({ match: city, replies: [{ text }] })),
    },
    async play({ name, start, model }) {
      const output = await start().end();
      const lines = Object.entries(COUNTRIES).map(([city, country]) => `${city}: ${country}\n`);
      check(`${name}: each member of the list has its answer, in order`, output.startsWith(lines.join("")));
      check(`${name}: each is paid for once`, model.answersPaid() === 5 && model.answersRepaid() === 0);
    },
  },
  steer: {
    needs: "server",
    // Without steering, this model reads on for ever.
    script: {
      respond: ({ body, turn }) =>
        JSON.stringify(body).includes("Answer in German")
          ? { text: "Es ist Nacht." }
          : { toolCalls: [{ name: "read_chapter", arguments: { number: turn + 1 } }] },
    },
    async play({ name, start }) {
      const output = await start().end();
      check(`${name}: the agent does what it was told meanwhile`, output.includes("Es ist Nacht."));
    },
  },
  stop: {
    needs: "worker",
    script: {
      replies: [{ text: "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17", holdUntil: "never" }],
    },
    async play({ name, start }) {
      const output = await start().end();
      check(`${name}: the run is stopped`, output.includes("outcome: stopped"));
      check(`${name}: what was written is there`, /written: 1, 2, 3, 4, 5, 6/.test(output));
    },
  },
  "tested-agent.test": {
    needs: "nothing",
    script: {},
    async play({ name, start }) {
      check(`${name}: the test passes`, /# pass 1\n# fail 0/.test(await start([], ["--test"]).end()));
    },
  },
  "read-usage": {
    needs: "worker",
    script: {
      replies: [
        {
          toolCalls: [{ name: "list_files", arguments: { path: "." } }],
          usage: { input: 1000, output: 150, cacheRead: 0, cacheWrite: 0 },
        },
        { text: "There are two.", usage: { input: 500, output: 50, cacheRead: 1000, cacheWrite: 0 } },
      ],
    },
    async play({ name, start }) {
      const output = await start().end();
      check(
        `${name}: each turn has its tokens`,
        /turn 0: 1000 in, 150 out\nturn 1: 500 in, 50 out/.test(output),
      );
      check(
        `${name}: the run has their sum`,
        output.includes("1500 tokens in (1000 from the cache), 200 out"),
      );
      check(`${name}: the price is that of the catalogue`, output.includes("0.0078 dollars"));
    },
  },
};

/** Answers the question that the program asks. */
async function answer(program, word) {
  await program.waitForOutput(/\[y\/n\] $/);
  program.write(`${word}\n`);
  return program.end();
}

/** Returns the body of one request to the model, as text; -1 is the last one. */
function getBody(model, which) {
  return JSON.stringify(model.requests.at(which)?.body);
}
