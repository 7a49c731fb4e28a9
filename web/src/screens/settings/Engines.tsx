/** Where jobs run: each engine with its nodes and cards, and whether it is ready, once it was tried. */

import { useQuery } from "@tanstack/react-query";
import { Button } from "antd";
import { useState } from "react";
import { api, type Schemas, take } from "../../api/client";
import { engines } from "../../api/queries";
import { known, listed, told, useWords } from "../../i18n/words";
import { useAct } from "../../parts/act";
import { useMay } from "../../parts/may";
import { Facts, Panel } from "../../parts/Page";
import { Moment } from "../../parts/Quantity";
import { Data, Nothing } from "../../parts/states";

export function Engines() {
  const { t } = useWords();
  const found = useQuery(engines());
  return (
    <Data query={found}>
      {(all) =>
        all.length === 0 ? (
          <Nothing command="headway-server engine add NAME">{t("engines.none")}</Nothing>
        ) : (
          <div className="stack">
            {all.map((one) => (
              <Engine key={one.name} engine={one} />
            ))}
          </div>
        )
      }
    </Data>
  );
}

function Engine({ engine }: { engine: Schemas["EngineView"] }) {
  const { t, language } = useWords();
  const { operate } = useMay();
  const [found, tell] = useState<Schemas["EngineCheck"] | null>(null);
  const act = useAct(
    () => take(api.POST("/api/v1/engines/{engine}/check", { params: { path: { engine: engine.name } } })),
    tell,
  );
  const counted = (sums: Record<string, number>, word: (name: string) => string) =>
    Object.entries(sums)
      .map(([name, count]) => `${word(name)} ${count}`)
      .join(" · ") || "—";
  const state = (name: string) => t(known(`node.${name}`) ?? "status.unknown");
  return (
    <Panel
      title={engine.name}
      extra={
        operate ? (
          <Button size="small" loading={act.isPending} onClick={() => act.mutate(undefined)}>
            {t("engines.check")}
          </Button>
        ) : null
      }
    >
      <Facts
        rows={[
          [t("engines.nodes"), counted(engine.nodes, state)],
          [t("jobs.cards"), counted(engine.devices, (name) => `${name} ×`)],
          [
            t("engines.can"),
            listed(
              engine.can.map((one) => told(["can"], one, t)),
              language,
            ) || "—",
          ],
        ]}
      />
      {found ? <Found found={found} /> : null}
    </Panel>
  );
}

/** What was found: marked, in words, and what to do where it is not well. */
function Found({ found }: { found: Schemas["EngineCheck"] }) {
  const { t } = useWords();
  const mark = (ok: boolean | null) => (ok === null ? "?" : ok ? "✓" : "✕");
  return (
    <div role="status" style={{ marginTop: 8 }}>
      <span className="quiet">
        {t("engines.checked")} <Moment at={found.at} />
      </span>
      <ul style={{ listStyle: "none", margin: 0, padding: 0 }}>
        {found.findings.map((one) => (
          <li key={one.code + one.sentence}>
            <span className={one.ok === false ? "bad" : one.ok === null ? "warn" : ""}>{mark(one.ok)}</span>{" "}
            {one.sentence}
            {one.ok === true ? null : <div className="quiet">{one.hint}</div>}
          </li>
        ))}
      </ul>
    </div>
  );
}
