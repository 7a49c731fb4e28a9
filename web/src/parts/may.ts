/** What the one who is signed in may do. It only hides what would be refused: the server decides. */

import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../api/client";
import { me } from "../api/queries";

type Role = Schemas["Role"];

const WORK: Role[] = ["member", "lead", "admin"];
const RUN: Role[] = ["member", "lead", "operator", "admin"];
const OPERATE: Role[] = ["operator", "admin"];

export interface May {
  user: string | null;
  work: (project?: string) => boolean;
  run: (project?: string) => boolean;
  operate: boolean;
  administer: boolean;
}

export function useMay(): May {
  const { data } = useQuery(me());
  const roles = (data?.roles ?? []) as [Role, string][];
  const holds = (allowed: Role[], project?: string) =>
    roles.some(([role, scope]) => allowed.includes(role) && (scope === "*" || !project || scope === project));
  return {
    user: data?.user ?? null,
    work: (project) => holds(WORK, project),
    run: (project) => holds(RUN, project),
    operate: roles.some(([role, scope]) => OPERATE.includes(role) && scope === "*"),
    administer: roles.some(([role, scope]) => role === "admin" && scope === "*"),
  };
}
