/** What a site has set: projects, templates, data sets, the rules of the queue, the audit; and one's own roles and tokens. */

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Button, Tabs } from "antd";
import type { ReactNode } from "react";
import { auditFacts, datasets, queueRules, templates } from "../../api/queries";
import { listed, told, useWords } from "../../i18n/words";
import { Page, Panel } from "../../parts/Page";
import { bytes, Moment } from "../../parts/Quantity";
import { Simple } from "../../parts/Simple";
import { Data, Nothing } from "../../parts/states";
import { factName, pairs, whoOf } from "../../parts/told";
import { Baselines } from "./Baselines";
import { Engines } from "./Engines";
import { Members } from "./Members";
import { Mine } from "./Mine";
import { Projects } from "./Projects";

export function Settings() {
  const { t } = useWords();
  const { tab } = useSearch({ from: "/settings" });
  const navigate = useNavigate({ from: "/settings" });
  const pages: [NonNullable<typeof tab>, ReactNode][] = [
    ["projects", <Projects key="p" />],
    ["members", <Members key="mb" />],
    ["engines", <Engines key="e" />],
    ["baselines", <Baselines key="b" />],
    ["templates", <Templates key="t" />],
    ["datasets", <Datasets key="d" />],
    ["queue", <QueueRules key="q" />],
    ["audit", <Audit key="a" />],
    ["me", <Mine key="m" />],
  ];
  return (
    <Page title={t("nav.settings")}>
      <Tabs
        activeKey={tab ?? "projects"}
        onChange={(next) => void navigate({ search: (old) => ({ ...old, tab: next as typeof tab }) })}
        destroyOnHidden
        items={pages.map(([key, children]) => ({ key, label: t(`settings.${key}`), children }))}
      />
    </Page>
  );
}

function Templates() {
  const { t, language } = useWords();
  const found = useQuery(templates());
  return (
    <Data query={found}>
      {(all) => (
        <Simple
          rows={all.map((one) => {
            const content = one.content as { kind?: string; description?: Record<string, string>; parameters?: object };
            return {
              key: String(one.name),
              name: (
                <Link to="/submit" search={{ template: String(one.name) }}>
                  {String(one.name)}
                </Link>
              ),
              version: String(one.version),
              kind: told(["template"], content.kind ?? "training", t),
              what: content.description?.[language] ?? "—",
              blanks: listed(Object.keys(content.parameters ?? {}), language) || "—",
            };
          })}
          columns={[
            ["name", t("submit.template")],
            ["version", t("versions.number")],
            ["kind", t("alerts.kind")],
            ["what", t("audit.what")],
            ["blanks", t("settings.blanks")],
          ]}
        />
      )}
    </Data>
  );
}

function Datasets() {
  const { t } = useWords();
  const found = useQuery(datasets());
  return (
    <Data query={found}>
      {(all) =>
        all.length === 0 ? (
          <Nothing command="headway dataset register NAME PATH">{t("settings.no-datasets")}</Nothing>
        ) : (
          <Simple
            rows={all.map((one) => ({
              key: `${one.name}@${one.number}`,
              name: `${one.name}@${one.number}`,
              path: <code className="mono">{one.path}</code>,
              size: `${bytes(one.bytes)} · ${t("settings.files", { count: one.files })}`,
              digest: <code className="mono">{one.digest.slice(0, 19)}</code>,
              at: <Moment at={one.created_at} />,
              by: one.created_by,
            }))}
            columns={[
              ["name", t("submit.dataset")],
              ["path", t("checkpoint.path")],
              ["size", t("checkpoint.size")],
              ["digest", t("settings.digest")],
              ["at", t("checkpoint.at")],
              ["by", t("audit.by")],
            ]}
          />
        )
      }
    </Data>
  );
}

function QueueRules() {
  const { t, language } = useWords();
  const found = useQuery(queueRules());
  return (
    <Data query={found}>
      {({ classes, rules }) => (
        <div className="stack">
          <Panel title={t("settings.queue")}>
            <ul>
              {rules.map((rule) => (
                <li key={rule.name}>{rule.sentence}</li>
              ))}
            </ul>
          </Panel>
          <Simple
            rows={classes.map((one) => ({
              key: one.name,
              name: t(`priority.${one.name}`),
              roles: listed(
                one.roles.map((role) => t(`role.${role}`)),
                language,
              ),
            }))}
            columns={[
              ["name", t("submit.priority")],
              ["roles", t("settings.may-use")],
            ]}
          />
        </div>
      )}
    </Data>
  );
}

const PAGE = 50;

/** Facts, newest first; `back` in the address: how far from the newest the page begins. */
function Audit() {
  const { t } = useWords();
  const { back } = useSearch({ from: "/settings" });
  const navigate = useNavigate({ from: "/settings" });
  const from = Math.max(PAGE, back ?? PAGE);
  const found = useQuery(auditFacts(-from));
  const go = (next: number) => void navigate({ search: (old) => ({ ...old, back: next > PAGE ? next : undefined }) });
  return (
    <Data query={found}>
      {(facts) => (
        <div className="stack">
          <div className="row">
            <Button disabled={facts[0]?.seq === 1 || facts.length < PAGE} onClick={() => go(from + PAGE)}>
              {t("audit.earlier")}
            </Button>
            <Button disabled={from <= PAGE} onClick={() => go(from - PAGE)}>
              {t("audit.later")}
            </Button>
          </div>
          <Simple
            rows={[...facts].reverse().map((fact) => ({
              key: String(fact.seq),
              seq: String(fact.seq),
              at: <Moment at={fact.at} />,
              by: whoOf(fact.by, t),
              kind: factName(fact.kind, t),
              data: (
                <code className="mono clip" style={{ maxWidth: 720 }} title={pairs(fact.data)}>
                  {pairs(fact.data)}
                </code>
              ),
            }))}
            columns={[
              ["seq", "#"],
              ["at", t("checkpoint.at")],
              ["by", t("audit.by")],
              ["kind", t("audit.what")],
              ["data", t("audit.content")],
            ]}
          />
        </div>
      )}
    </Data>
  );
}
