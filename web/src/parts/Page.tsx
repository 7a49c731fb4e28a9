/** The frame of a screen: what it is called, what may be done, and then what it shows. */

import { type ReactNode, useEffect } from "react";

export function Page({ title, actions, children }: { title: ReactNode; actions?: ReactNode; children: ReactNode }) {
  useEffect(() => {
    if (typeof title === "string") document.title = `${title} · Headway`;
  }, [title]);
  return (
    <main id="content" className="page stack">
      <div className="spread">
        <h1>{title}</h1>
        {actions ? <div className="row">{actions}</div> : null}
      </div>
      {children}
    </main>
  );
}

export function Panel({ title, extra, children }: { title?: ReactNode; extra?: ReactNode; children: ReactNode }) {
  return (
    <section className="panel">
      {title ? (
        <div className="spread">
          <h2>{title}</h2>
          {extra}
        </div>
      ) : null}
      {children}
    </section>
  );
}

/** Names beside values. */
export function Facts({ rows }: { rows: [ReactNode, ReactNode][] }) {
  return (
    <dl className="facts">
      {rows.map(([name, value], at) => [<dt key={`n${at}`}>{name}</dt>, <dd key={`v${at}`}>{value}</dd>])}
    </dl>
  );
}
