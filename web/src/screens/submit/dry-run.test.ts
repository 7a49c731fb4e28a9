import { expect, test } from "vitest";
import type { Schemas } from "../../api/client";
import { say } from "../../i18n/words";
import { saving } from "./DryRun";

const policy = (told: Partial<Schemas["CheckpointPolicy"]>) =>
  saving(told as Schemas["CheckpointPolicy"], (key, blanks) => say("en", key, blanks), "en");

test("an interval is told as it was given: in steps, in time, or as advised", () => {
  expect(policy({ every_steps: 50 })).toContain("every 50 steps");
  expect(policy({ every: "PT20M" })).toContain("every 20m");
  expect(policy({ advised: true })).toContain("advised interval");
  expect(policy({})).toContain("No checkpoint interval");
});
