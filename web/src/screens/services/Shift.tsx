/** The shares of each version, to be set in percent; together they are 100. */

import { Button, Input, InputNumber } from "antd";
import { useState } from "react";
import { api, type Schemas, take } from "../../api/client";
import { useScheme } from "../../design/scheme";
import { useWords } from "../../i18n/words";
import { useAct } from "../../parts/act";
import { useMay } from "../../parts/may";
import { Nothing } from "../../parts/states";

const STAGES = [5, 25, 50, 100];

/** Shares with one version at `percent` and the others sharing the rest as before. */
export function grown(shares: Record<string, number>, version: string, percent: number): Record<string, number> {
  const others = Object.keys(shares).filter((name) => name !== version);
  const before = others.reduce((sum, name) => sum + (shares[name] ?? 0), 0);
  let rest = 100 - percent;
  const next: Record<string, number> = { ...shares, [version]: percent };
  others.forEach((name, at) => {
    const part = at === others.length - 1 ? rest : Math.round(((100 - percent) * (shares[name] ?? 0)) / (before || 1));
    next[name] = Math.min(rest, part);
    rest -= next[name] ?? 0;
  });
  return others.length === 0 ? { ...next, [version]: 100 } : next;
}

export function Shift({ view }: { view: Schemas["ServiceView"] }) {
  const { t } = useWords();
  const may = useMay();
  const { project, name } = view.service;
  const now = sharesOf(view);
  const [edited, edit] = useState<Record<string, number> | null>(null);
  const [reason, setReason] = useState("");
  const act = useAct(
    (body: Schemas["NewSplit"]) =>
      take(api.POST("/api/v1/services/{project}/{name}/shift", { params: { path: { project, name } }, body })),
    () => {
      edit(null);
      setReason("");
    },
  );
  const shares = edited ?? now;
  const versions = Object.keys(shares);
  const sum = versions.reduce((total, version) => total + (shares[version] ?? 0), 0);
  if (versions.length === 0) return <Nothing>{t("services.no-replicas")}</Nothing>;
  const isOpen = may.work(project) && !view.service.stopped_at;
  return (
    <div className="stack">
      <SplitBar shares={now} />
      {versions.map((version) => (
        <div key={version} className="row">
          <span style={{ minWidth: 160 }}>{version}</span>
          <InputNumber
            aria-label={t("services.share-of", { version })}
            min={0}
            max={100}
            precision={0}
            suffix="%"
            disabled={!isOpen}
            value={shares[version] ?? 0}
            onChange={(value) => edit({ ...shares, [version]: value ?? 0 })}
          />
          {isOpen
            ? STAGES.map((stage) => (
                <Button key={stage} size="small" onClick={() => edit(grown(shares, version, stage))}>
                  {stage} %
                </Button>
              ))
            : null}
        </div>
      ))}
      {edited ? (
        <div className="row">
          <Input
            style={{ maxWidth: 360 }}
            aria-label={t("audit.why")}
            placeholder={t("audit.why")}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
          <Button
            type="primary"
            disabled={sum !== 100}
            loading={act.isPending}
            onClick={() => act.mutate({ shares, reason })}
          >
            {t("services.shift")}
          </Button>
          <Button onClick={() => edit(null)}>{t("action.cancel")}</Button>
          {sum !== 100 ? <span className="warn">{t("services.sum", { sum })}</span> : null}
        </div>
      ) : null}
    </div>
  );
}

/** Every version that has a share or is ready to take one. */
function sharesOf(view: Schemas["ServiceView"]): Record<string, number> {
  const ready = view.replicas.filter((one) => one.state === "ready").map((one) => [one.version, 0] as const);
  const told = (view.split?.shares ?? []).map((share) => [share.version, share.weight] as const);
  return Object.fromEntries([...ready, ...told]);
}

function SplitBar({ shares }: { shares: Record<string, number> }) {
  const { ink } = useScheme();
  const words = Object.entries(shares)
    .map(([version, share]) => `${version} ${share} %`)
    .join(" · ");
  return (
    <div>
      <div className="bar" role="img" aria-label={words}>
        {Object.entries(shares).map(([version, share], at) => (
          <span
            key={version}
            style={{
              width: `${share}%`,
              background:
                at % 2 ? `repeating-linear-gradient(45deg, ${ink.accent} 0 4px, transparent 4px 8px)` : ink.accent,
            }}
          />
        ))}
      </div>
      <div className="quiet">{words}</div>
    </div>
  );
}
