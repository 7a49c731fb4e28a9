import { describe, expect, test } from "vitest";
import { formOf, fromFile, tidy, toCommand, toFile } from "./wish";

const TORCHRUN = {
  name: "torchrun",
  version: 2,
  content: {
    kind: "training",
    description: { en: "A script", zh: "一个脚本" },
    parameters: {
      script: { type: "string", help: { zh: "脚本的路径" } },
      lr: { type: "number", default: 0.1, minimum: 0, maximum: 1 },
    },
    resources: { nodes: 2, devices_per_node: 8 },
  },
};

describe("a template's form", () => {
  test("every parameter is a field with its limits, in the reader's language", () => {
    const form = formOf(TORCHRUN, "zh");
    expect(form.description).toBe("一个脚本");
    expect(form.parameters.map((one) => [one.name, one.type, one.default])).toEqual([
      ["script", "string", null],
      ["lr", "number", 0.1],
    ]);
    expect(form.parameters[0]?.help).toBe("脚本的路径");
    expect(form.resources).toEqual({ nodes: 2, devices_per_node: 8 });
  });
});

describe("form, file and command", () => {
  const wish = {
    name: "first run",
    project: "nlp",
    template: "torchrun",
    parameters: { script: "train.py", lr: 0.5, note: "" },
    resources: { nodes: 2 },
    env: {},
    commit: undefined,
  };

  test("the file read back is the form", () => {
    expect(fromFile(toFile(wish))).toEqual(tidy(wish));
  });

  test("what says nothing is not sent", () => {
    expect(tidy(wish)).toEqual({
      name: "first run",
      project: "nlp",
      template: "torchrun",
      parameters: { script: "train.py", lr: 0.5 },
      resources: { nodes: 2 },
    });
  });

  test("words of the command are quoted for a shell", () => {
    expect(toCommand(wish)).toContain("--name 'first run'");
    expect(toCommand({ ...wish, parameters: { text: "it's" } })).toContain("'text=it'\\''s'");
  });

  test("a file that is none says where", () => {
    expect(() => fromFile("name = ")).toThrow(/line|1/);
  });
});
