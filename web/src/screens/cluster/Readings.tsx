/** Any measurement across nodes over a range, with the chart loaded when it is asked for. */

import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Select } from "antd";
import { acrossNodes } from "../../api/queries";
import { useWords } from "../../i18n/words";
import { FixedWindow } from "../../parts/chart/FixedWindow";
import { LazyChart } from "../../parts/chart/LazyChart";
import { MetricSelect } from "../../parts/chart/MetricSelect";
import { metricName, sinceHours } from "../../parts/chart/metrics";
import { Panel } from "../../parts/Page";
import { Data, Unknown } from "../../parts/states";
import { linesOf, MOST_LINES } from "./lines";

const HOURS = [1, 6, 24, 168];

export function Readings() {
  const { t } = useWords();
  const wanted = useSearch({ from: "/cluster" });
  const navigate = useNavigate({ from: "/cluster" });
  const metric = wanted.metric ?? "device_utilisation_percent";
  const hours = wanted.hours ?? 6;
  const series = useQuery({
    ...acrossNodes(metric, wanted.from ?? sinceHours(hours), 100, wanted.to),
    refetchInterval: 30_000,
  });
  return (
    <Panel
      title={t("cluster.readings")}
      extra={
        <span className="row">
          <MetricSelect
            value={metric}
            onChange={(value) => void navigate({ search: (old) => ({ ...old, metric: value }) })}
          />
          <FixedWindow
            {...{ from: wanted.from, to: wanted.to }}
            clear={() => void navigate({ search: (old) => ({ ...old, from: undefined, to: undefined }) })}
          />
          <Select
            aria-label={t("cluster.hours")}
            value={hours}
            onChange={(hours) =>
              void navigate({ search: (old) => ({ ...old, hours, from: undefined, to: undefined }) })
            }
            options={HOURS.map((value) => ({ value, label: t("cluster.last-hours", { count: value }) }))}
          />
        </span>
      }
    >
      <Data query={series}>
        {(found) =>
          found.length === 0 ? (
            <Unknown>{t("cluster.no-readings", { metric: metricName(metric, t) })}</Unknown>
          ) : (
            <>
              {found.length > MOST_LINES ? <span className="quiet">{t("cluster.per-node")}</span> : null}
              <LazyChart metric={metric} lines={linesOf(found)} />
            </>
          )
        }
      </Data>
    </Panel>
  );
}
