/** How good the forecasts of starts were: the share that kept within what was foretold. */

import { queryOptions, useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { api, take } from "../../api/client";
import { useWords } from "../../i18n/words";
import { Panel } from "../../parts/Page";
import { Quantity } from "../../parts/Quantity";
import { Simple } from "../../parts/Simple";
import { Data, Nothing } from "../../parts/states";
import { duration } from "../../time/durations";

const calibration = (project: string | undefined) =>
  queryOptions({
    queryKey: ["calibration", project ?? null],
    queryFn: () => take(api.GET("/api/v1/forecast/calibration", { params: { query: { project } } })),
  });

export function Calibration() {
  const { t, language } = useWords();
  const { project } = useSearch({ from: "__root__" });
  const found = useQuery(calibration(project));
  const percent = (share: number) => <Quantity value={share * 100} unit="%" />;
  return (
    <Panel title={t("usage.forecast")}>
      <Data query={found}>
        {({ groups }) =>
          groups.every((group) => group.predictions === 0) ? (
            <Nothing>{t("forecast.none")}</Nothing>
          ) : (
            <Simple
              rows={groups.map((group, at) => ({
                key: String(at),
                project: group.project ?? t("nav.all-projects"),
                size: group.size ?? "—",
                predictions: <Quantity value={group.predictions} />,
                p50: percent(group.within_p50),
                p90: percent(group.within_p90),
                error: duration(Math.abs(group.median_error_s), language),
              }))}
              columns={[
                ["project", t("jobs.project")],
                ["size", t("forecast.size")],
                ["predictions", t("forecast.count")],
                ["p50", "P50"],
                ["p90", "P90"],
                ["error", t("forecast.error")],
              ]}
            />
          )
        }
      </Data>
    </Panel>
  );
}
