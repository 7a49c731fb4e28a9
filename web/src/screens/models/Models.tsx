/** Where did this come from, and where does it serve? Versions with their lineage, two side by side, reproduce. */

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Button, Select } from "antd";
import type { Schemas } from "../../api/client";
import { models, services } from "../../api/queries";
import { known, listed, type Say, useWords } from "../../i18n/words";
import { Page, Panel } from "../../parts/Page";
import { bytes, Moment, Quantity } from "../../parts/Quantity";
import { Simple } from "../../parts/Simple";
import { Data, Nothing, Unknown } from "../../parts/states";

type Version = Schemas["ModelVersion"];
const nameOf = (version: Version) => `${version.name}@${version.number}`;

export function Models() {
  const { t } = useWords();
  const { project } = useSearch({ from: "__root__" });
  const wanted = useSearch({ from: "/models" });
  const found = useQuery(models());
  return (
    <Page title={t("models.title")}>
      <Data query={found}>
        {(all) => {
          const shown = all.filter((version) => !project || version.project === project);
          if (shown.length === 0)
            return <Nothing command="headway model register NAME --job JOB">{t("models.none")}</Nothing>;
          const newest = shown.reduce((one, other) => (one.created_at > other.created_at ? one : other));
          const chosen = all.find((version) => nameOf(version) === wanted.version) ?? newest;
          const other = all.find((version) => nameOf(version) === wanted.against);
          return (
            <>
              <Versions versions={shown} />
              <Lineage chosen={chosen} other={other ?? null} all={all} />
            </>
          );
        }}
      </Data>
    </Page>
  );
}

function Versions({ versions }: { versions: Version[] }) {
  const { t, language } = useWords();
  const navigate = useNavigate({ from: "/models" });
  const served = useQuery(services()).data ?? [];
  const shares = (version: Version) =>
    served.flatMap(({ service, split }) =>
      (split?.shares ?? [])
        .filter((share) => share.version === nameOf(version) && share.weight > 0)
        .map((share) => `${service.name} ${share.weight} %`),
    );
  const rows = versions.map((version) => ({
    key: nameOf(version),
    name: (
      <Button
        type="link"
        size="small"
        className="flush"
        onClick={() => void navigate({ search: (old) => ({ ...old, version: nameOf(version) }) })}
      >
        {nameOf(version)}
      </Button>
    ),
    project: version.project,
    from: (
      <span>
        <Link to="/jobs/$job" params={{ job: version.lineage.job }} className="mono">
          {version.lineage.job}
        </Link>{" "}
        · {t("unit.step")} <Quantity value={version.lineage.step} />
      </span>
    ),
    size: bytes(version.bytes),
    at: <Moment at={version.created_at} />,
    by: version.created_by,
    serves: listed(shares(version), language) || "—",
  }));
  return (
    <Simple
      rows={rows}
      columns={[
        ["name", t("models.version")],
        ["project", t("jobs.project")],
        ["from", t("models.from")],
        ["size", t("checkpoint.size")],
        ["at", t("checkpoint.at")],
        ["by", t("audit.by")],
        ["serves", t("models.serves")],
      ]}
    />
  );
}

/** Every field of a version's lineage, flat. */
export function fields(version: Version): [string, string][] {
  const { parameters, environment, ...lineage } = version.lineage;
  const flat = (prefix: string, table: Record<string, string> | undefined) =>
    Object.entries(table ?? {}).map<[string, string]>(([name, value]) => [`${prefix}${name}`, value]);
  const own = Object.entries({ ...lineage, digest: version.digest, path: version.path });
  return [
    ...own.map<[string, string]>(([name, value]) => [name, value === null ? "—" : String(value)]),
    ...flat("parameters.", parameters),
    ...flat("environment.", environment),
  ];
}

/** What a field of the lineage is called; a parameter or a part of the environment by its own name. */
export function fieldName(field: string, t: Say): string {
  const [table, ...rest] = field.split(".");
  const key = known(`lineage.${table}`);
  return key ? t(key, { name: rest.join(".") }) : field;
}

function Lineage({ chosen, other, all }: { chosen: Version; other: Version | null; all: Version[] }) {
  const { t } = useWords();
  const navigate = useNavigate({ from: "/models" });
  const mine = fields(chosen);
  const theirs = new Map(other ? fields(other) : []);
  const names = [...new Set([...mine.map(([name]) => name), ...theirs.keys()])];
  const values = new Map(mine);
  const rows = names.map((name) => {
    const differs = other !== null && values.get(name) !== theirs.get(name);
    return {
      key: name,
      name: differs ? <strong>≠ {fieldName(name, t)}</strong> : fieldName(name, t),
      mine: <code className="mono">{values.get(name) ?? "—"}</code>,
      theirs: <code className="mono">{other ? (theirs.get(name) ?? "—") : ""}</code>,
    };
  });
  return (
    <Panel
      title={t("models.lineage", { version: nameOf(chosen) })}
      extra={
        <span className="row">
          <Select
            allowClear
            style={{ minWidth: 200 }}
            aria-label={t("models.against")}
            placeholder={t("models.against")}
            value={other ? nameOf(other) : undefined}
            onChange={(against?: string) => void navigate({ search: (old) => ({ ...old, against }) })}
            options={all.filter((one) => one !== chosen).map((one) => ({ value: nameOf(one), label: nameOf(one) }))}
          />
          <Link to="/submit" search={{ like: chosen.lineage.job }}>
            <Button tabIndex={-1}>{t("models.reproduce")}</Button>
          </Link>
        </span>
      }
    >
      <Simple
        rows={rows}
        columns={[
          ["name", t("models.field")],
          ["mine", nameOf(chosen)],
          ...(other ? [["theirs", nameOf(other)] as [string, string]] : []),
        ]}
      />
      <Unknown>{t("models.no-evaluation")}</Unknown>
    </Panel>
  );
}
