/** Cards that are held and do nothing: whose, since when, and what that has cost; those nobody measures are counted apart. */

import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";
import { cards } from "../../api/queries";
import { useWords } from "../../i18n/words";
import { Moment, Quantity } from "../../parts/Quantity";
import { Simple } from "../../parts/Simple";
import { Data, Nothing, Unknown } from "../../parts/states";
import { now } from "../../time/now";

type Card = Schemas["headway__server__operations__nodes__cards__Card"];

export interface Idle {
  first: Card;
  cards: Card[];
  /** Device-seconds since each stood idle. */
  lost: number;
}

/** Idle cards by attempt and node, the dearest first. */
export function idle(all: Card[], at: number): Idle[] {
  const found = new Map<string, Idle>();
  for (const card of all) {
    if (card.state !== "idle") continue;
    const key = `${card.attempt} ${card.node}`;
    const one = found.get(key) ?? { first: card, cards: [], lost: 0 };
    one.cards.push(card);
    one.lost += card.idle_since ? Math.max(0, (at - Date.parse(card.idle_since)) / 1000) : 0;
    found.set(key, one);
  }
  return [...found.values()].sort((a, b) => b.lost - a.lost);
}

export function IdleCards() {
  const { t } = useWords();
  const { project } = useSearch({ from: "__root__" });
  const found = useQuery({ ...cards(project), refetchInterval: 30_000 });
  return (
    <Data query={found}>
      {(all) => {
        const rows = idle(all, now());
        const blind = all.filter((card) => card.state === "unknown").length;
        return (
          <div className="stack">
            {blind > 0 ? <Unknown>{t("idle.unknown", { count: blind })}</Unknown> : null}
            {rows.length === 0 ? <Nothing>{t("idle.none")}</Nothing> : <List rows={rows} />}
          </div>
        );
      }}
    </Data>
  );
}

function List({ rows }: { rows: Idle[] }) {
  const { t } = useWords();
  return (
    <Simple
      rows={rows.map(({ first, cards: held, lost }) => ({
        key: `${first.attempt} ${first.node}`,
        job: (
          <Link to="/jobs/$job" params={{ job: first.job ?? "" }}>
            {first.name} <span className="quiet mono">{first.job}</span>
          </Link>
        ),
        whose: `${first.project} · ${first.owner}`,
        node: (
          <Link to="/nodes/$node" params={{ node: first.node }}>
            {first.node}
          </Link>
        ),
        cards: (
          <span className="number">
            {held.length} <span className="quiet">{first.device_type}</span>
          </span>
        ),
        since: <Moment at={first.idle_since} />,
        lost: <Quantity value={lost / 3600} digits={1} unit={t("unit.card-hours")} />,
        ends: <Moment at={first.ends} />,
      }))}
      columns={[
        ["job", t("jobs.job")],
        ["whose", t("jobs.project")],
        ["node", t("nav.node")],
        ["cards", t("jobs.cards")],
        ["since", t("idle.since")],
        ["lost", t("idle.lost")],
        ["ends", t("idle.ends")],
      ]}
    />
  );
}
