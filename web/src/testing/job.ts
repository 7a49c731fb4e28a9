/** A job as the API tells of it, for tests. */

import type { Schemas } from "../api/client";

type JobView = Schemas["JobView"];

export const PROJECT = "nlp";

/** A job of two nodes with four ranks each, at step 130 of 200, changed as told. */
export function jobView(job: Partial<Schemas["Job"]> = {}, view: Partial<JobView> = {}): JobView {
  const spec = { name: "pretrain", project: PROJECT, template: "command", command: ["true"], request: REQUEST };
  return {
    job: {
      ...{ id: "j-1", owner: "wang", state: "running", submitted_at: "2026-12-01T00:00:00Z", step: 130, total: 200 },
      spec,
      ...job,
    },
    devices: 8,
    ...view,
  } as unknown as JobView;
}

const REQUEST = { nodes: 2, devices_per_node: 4, ranks_per_node: 4, device_types: [] };
