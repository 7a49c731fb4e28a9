/** The nine states that data may be in, each designed: loading, empty, filtered away, error, stale, partial, unknown, forbidden, gone. */

import type { UseQueryResult } from "@tanstack/react-query";
import { Button, Empty, Skeleton } from "antd";
import { type ReactNode, useEffect, useState } from "react";
import { Problem } from "../api/problem";
import { useWords } from "../i18n/words";
import { clock } from "../time/durations";

const PATIENCE_MS = 300;

/** Nothing for a moment, then a skeleton: what comes at once must not flicker. */
export function Loading({ rows = 6 }: { rows?: number }) {
  const { t } = useWords();
  const [shown, show] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => show(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div role="status" aria-label={t("state.loading")}>
      {shown ? <Skeleton active paragraph={{ rows }} title={false} /> : null}
    </div>
  );
}

/** Nothing here yet: what it is, one action, one command. */
export function Nothing({ children, action, command }: { children: ReactNode; action?: ReactNode; command?: string }) {
  const { t } = useWords();
  if (!action && !command) return <div className="quiet">{children}</div>;
  return (
    <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={children}>
      {action}
      {command ? (
        <div className="quiet" style={{ marginTop: 8 }}>
          {t(action ? "state.or-run" : "state.run")} <code className="mono">{command}</code>
        </div>
      ) : null}
    </Empty>
  );
}

/** There is something, but not of what was asked for. */
export function FilteredAway({ filter, clear }: { filter: string; clear: () => void }) {
  const { t } = useWords();
  return (
    <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t("state.filtered", { filter })}>
      <Button onClick={clear}>{t("state.clear")}</Button>
    </Empty>
  );
}

/** Where it happened only: cause, code and a way to ask again; the rest of the page lives. */
export function Failed({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const { t } = useWords();
  const problem = error instanceof Problem ? error : new Problem(-1, { detail: String(error), code: "console-error" });
  const isForbidden = problem.code === "forbidden";
  const isGone = problem.code === "not-found" || problem.status === 410;
  const title = isForbidden
    ? "state.forbidden"
    : isGone
      ? "state.gone"
      : problem.isUnreachable
        ? "state.down"
        : "state.error";
  return (
    <div role="alert" className="notice bad">
      <div>
        <strong>{t(title)}</strong> <span>{problem.isUnreachable ? "" : problem.message}</span>{" "}
        <code className="mono quiet">{problem.code}</code>
      </div>
      {problem.hint ? <div className="quiet">{problem.hint}</div> : null}
      {retry && !isForbidden ? (
        <Button size="small" onClick={retry} style={{ marginTop: 4 }}>
          {t("action.retry")}
        </Button>
      ) : null}
    </div>
  );
}

/** What is shown is old: dated, and kept. */
export function Stale({ at, error, retry }: { at: number; error: unknown; retry: () => void }) {
  const { t } = useWords();
  const code = error instanceof Problem ? error.code : "console-error";
  return (
    <div role="status" className="notice row">
      {t("state.stale", { time: clock(new Date(at)) })} <code className="mono quiet">{code}</code>
      <Button size="small" type="link" onClick={retry}>
        {t("action.retry")}
      </Button>
    </div>
  );
}

/** Part of it is missing: which part. */
export function Partial({ children }: { children: ReactNode }) {
  return (
    <div role="status" className="notice">
      {children}
    </div>
  );
}

/** Nobody knows: hatched, with why. */
export function Unknown({ children }: { children: ReactNode }) {
  return <div className="hatched quiet">{children}</div>;
}

/** A query's data in whichever state it is; old data stays while it is asked for again. */
export function Data<T>({
  query,
  children,
  rows,
}: {
  query: UseQueryResult<T, Error>;
  children: (data: T) => ReactNode;
  rows?: number;
}) {
  const retry = () => void query.refetch();
  if (query.data === undefined) {
    return query.isError ? <Failed error={query.error} retry={retry} /> : <Loading {...(rows ? { rows } : {})} />;
  }
  return (
    <>
      {query.isRefetchError ? <Stale at={query.dataUpdatedAt} error={query.error} retry={retry} /> : null}
      {children(query.data)}
    </>
  );
}
