/** What is served, by which versions in which shares. */

import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { usePace } from "../../api/live";
import { services } from "../../api/queries";
import { useWords } from "../../i18n/words";
import { Page } from "../../parts/Page";
import { Simple } from "../../parts/Simple";
import { Data, Nothing } from "../../parts/states";
import { Deploy } from "./Deploy";

export function Services() {
  const { t } = useWords();
  const { project } = useSearch({ from: "__root__" });
  const found = useQuery({ ...services(), refetchInterval: usePace(15) });
  return (
    <Page title={t("nav.services")} actions={<Deploy />}>
      <Data query={found}>
        {(all) => {
          const shown = all.filter(({ service }) => !project || service.project === project);
          if (shown.length === 0)
            return <Nothing command="headway service deploy NAME --version MODEL@1">{t("services.none")}</Nothing>;
          const rows = shown.map(({ service, split, replicas, url, live }) => ({
            key: `${service.project}/${service.name}`,
            name: (
              <Link to="/services/$owner/$name" params={{ owner: service.project, name: service.name }}>
                {service.name}
              </Link>
            ),
            project: service.project,
            state: service.stopped_at
              ? t("services.stopped")
              : live
                ? `✓ ${t("services.live")}`
                : `◔ ${t("services.not-live")}`,
            shares: (split?.shares ?? []).map((share) => `${share.version} ${share.weight} %`).join(" · ") || "—",
            replicas: `${replicas.filter((one) => one.state === "ready").length}/${replicas.filter((one) => one.state !== "gone").length}`,
            url: <code className="mono">{url}</code>,
          }));
          return (
            <Simple
              rows={rows}
              columns={[
                ["name", t("services.name")],
                ["project", t("jobs.project")],
                ["state", t("jobs.status")],
                ["shares", t("services.shares")],
                ["replicas", t("services.ready")],
                ["url", t("services.address")],
              ]}
            />
          );
        }}
      </Data>
    </Page>
  );
}
