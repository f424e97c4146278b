import { expect, test } from "vitest";
import { local } from "../../src/config/vendor-models.ts";
import { Outages } from "../../src/models/outages.ts";
import {
  ProviderError,
  type ProviderErrorFacts,
  type ProviderFault,
} from "../../src/models/provider-error.ts";

const [own, spare, last] = ["own", "spare", "last"].map((id) => local("http://localhost:1/v1", id));
const models = [own!, spare!, last!];
const down = (fault: ProviderFault = "network", facts: ProviderErrorFacts = {}) =>
  new ProviderError(fault, "it is gone", facts);

function remembered() {
  const clock = { ms: 5 };
  const outages = new Outages(() => clock.ms);
  return { clock, outages, order: () => outages.order(models).map(({ model }) => model.id) };
}

test("a model that was found down is asked after the others for a minute, twice as long each time, ten at most [PROV-28]", () => {
  const { clock, outages, order } = remembered();
  expect(order()).toEqual(["own", "spare", "last"]);
  for (const minutes of [1, 2, 4, 8, 10, 10]) {
    outages.recordFailure(own!, down());
    clock.ms += minutes * 60_000 - 1;
    expect(order()).toEqual(["spare", "last", "own"]);
    clock.ms += 1;
    expect(order()).toEqual(["own", "spare", "last"]);
  }
  outages.recordSuccess(own!);
  outages.recordFailure(own!, down());
  clock.ms += 60_000;
  expect(order()).toEqual(["own", "spare", "last"]);
});

test("one who asks tries it again, and the others go on with the one that works", () => {
  const { clock, outages, order } = remembered();
  outages.recordFailure(own!, down());
  clock.ms += 60_000;
  expect(outages.order(models)[0]).toMatchObject({ model: { id: "own" }, isTrial: true });
  outages.recordAttempt(own!);
  expect(order()).toEqual(["spare", "last", "own"]);
  // Whoever tried it is gone without a word.
  clock.ms += 60_000;
  expect(order()).toEqual(["own", "spare", "last"]);
});

test("nothing is left out when all are down, and a delay that a vendor names is kept", () => {
  const { clock, outages, order } = remembered();
  for (const model of models) outages.recordFailure(model, down());
  expect(order()).toEqual(["own", "spare", "last"]);
  outages.recordFailure(spare!, down("rate-limited", { retryAfterMs: 300_000 }));
  clock.ms += 299_999;
  expect(order()).toEqual(["own", "last", "spare"]);
  expect(outages.order(models)[2]?.outage).toEqual({
    fault: "rate-limited",
    message: "it is gone",
    retryInMs: 1,
  });
});

test("a word on the question says that the model is there, and what was heard long ago is forgotten", () => {
  const { clock, outages, order } = remembered();
  outages.recordFailure(own!, down());
  outages.recordFailure(own!, down("api", { status: 400 }));
  expect(order()).toEqual(["own", "spare", "last"]);
  outages.recordFailure(own!, down());
  clock.ms += 60_000 + 3_600_001;
  outages.recordFailure(spare!, down());
  outages.recordFailure(own!, down());
  clock.ms += 60_000;
  expect(order()).toEqual(["own", "spare", "last"]);
});

test("one that is asked with another key's name is another one", () => {
  const { outages } = remembered();
  outages.recordFailure({ ...own!, apiKey: "${A}" }, down("auth", { status: 401 }));
  const [first] = outages.order([{ ...own!, apiKey: "${B}" }]);
  expect(first?.isTrial).toBe(false);
});
