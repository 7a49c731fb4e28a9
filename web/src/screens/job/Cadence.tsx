/** How often this job should save, from what its own saves cost and how often its pool fails. */

import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "../../api/client";
import { cadence } from "../../api/queries";
import { useWords } from "../../i18n/words";
import { Panel } from "../../parts/Page";
import { Data } from "../../parts/states";
import { Trade } from "../../parts/Trade";

/** Nothing of a job that never saves and was never told to. */
export function Cadence({ view, saves }: { view: Schemas["JobView"]; saves: boolean }) {
  const { t } = useWords();
  const { every, every_steps: steps, advised } = view.job.spec.checkpoint ?? {};
  const isOf = view.job.spec.kind === "training" && (saves || every != null || steps != null || advised === true);
  const seen = useQuery({ ...cadence(view.job.id), enabled: isOf });
  if (!isOf) return null;
  return (
    <Panel title={t("cadence.title")}>
      <Data query={seen}>{(found) => <Trade seen={found} />}</Data>
    </Panel>
  );
}
