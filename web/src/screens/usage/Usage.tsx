/** Who holds what, and what did it cost? Quota bars, requests to decide, the month's statement, tables of quota, forecasts kept. */

import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Tabs } from "antd";
import { grants } from "../../api/queries";
import { useWords } from "../../i18n/words";
import { Page } from "../../parts/Page";
import { Calibration } from "./Calibration";
import { Grants } from "./Grants";
import { QuotaBars } from "./QuotaBars";
import { ReportView } from "./ReportView";
import { StatementView } from "./StatementView";
import { Versions } from "./Versions";

export function Usage() {
  const { t } = useWords();
  const { tab } = useSearch({ from: "/usage" });
  const navigate = useNavigate({ from: "/usage" });
  const open = useQuery(grants()).data?.filter(({ request }) => request.state === "requested").length ?? 0;
  const items = [
    { key: "quota", label: t("usage.quota"), children: <QuotaBars /> },
    { key: "grants", label: open ? t("usage.grants-open", { count: open }) : t("usage.grants"), children: <Grants /> },
    { key: "statement", label: t("usage.statement"), children: <StatementView /> },
    { key: "report", label: t("usage.report"), children: <ReportView /> },
    { key: "versions", label: t("usage.versions"), children: <Versions /> },
    { key: "forecast", label: t("usage.forecast"), children: <Calibration /> },
  ];
  return (
    <Page title={t("nav.usage")}>
      <Tabs
        activeKey={tab ?? "quota"}
        onChange={(next) => void navigate({ search: (old) => ({ ...old, tab: next as typeof tab }) })}
        items={items}
        destroyOnHidden
      />
    </Page>
  );
}
