/** A small table whose cells are ready, and the links that stand in many of them. */

import { Link, useSearch } from "@tanstack/react-router";
import { Button, Table } from "antd";
import { isValidElement, type ReactNode } from "react";
import type { Schemas } from "../api/client";
import { useWords } from "../i18n/words";
import { useMay } from "./may";
import { Quantity } from "./Quantity";
import { Still } from "./Still";

export type Row = { key: string } & Record<string, ReactNode>;

/** How a column of figures stands: at the right, apart from the words of the next. */
export const FIGURED = { align: "right", className: "figured" } as const;

/** Columns are [key of the cell, heading]; one that holds nothing but figures stands at the right. */
export function Simple({ rows, columns }: { rows: Row[]; columns: [string, string][] }) {
  return (
    <Still rows={rows} name={(row) => row.key}>
      {(still) => (
        <Table<Row>
          size="small"
          pagination={rows.length > 50 ? { pageSize: 50, showSizeChanger: false } : false}
          scroll={{ x: "max-content" }}
          dataSource={still}
          columns={columns.map(([dataIndex, title]) => ({
            ...{ dataIndex, title, key: dataIndex },
            ...(isOfFigures(rows, dataIndex) ? FIGURED : {}),
          }))}
        />
      )}
    </Still>
  );
}

/** Whether all that stands in a column is figures, or a dash for one that nobody knows. */
function isOfFigures(rows: Row[], column: string): boolean {
  const cells = rows.map((row) => row[column]);
  const figures = cells.filter((cell) => isValidElement(cell) && cell.type === Quantity);
  return figures.length > 0 && cells.every((cell) => cell === "—" || figures.includes(cell as never));
}

export function JobLink({ view }: { view: Schemas["JobView"] }) {
  return (
    <Link to="/jobs/$job" params={{ job: view.job.id }} title={view.job.spec.name}>
      <span className="clip" style={{ maxWidth: 320 }}>
        {view.job.spec.name}
      </span>{" "}
      <span className="quiet mono">{view.job.id}</span>
    </Link>
  );
}

/** Shown to who may submit. */
export function SubmitButton() {
  const { t } = useWords();
  const { project } = useSearch({ from: "__root__" });
  if (!useMay().work(project)) return null;
  return (
    <Link to="/submit">
      <Button type="primary" tabIndex={-1}>
        {t("nav.submit")}
      </Button>
    </Link>
  );
}
