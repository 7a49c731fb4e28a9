/** Rows that stand still while the pointer is over them: what is new is counted over them, where it moves nothing. */

import { Button } from "antd";
import { type ReactNode, useState } from "react";
import { useWords } from "../i18n/words";
import { useHeld } from "./held";

interface Props<T> {
  rows: T[];
  name: (row: T) => string;
  children: (rows: T[]) => ReactNode;
}

export function Still<T>({ rows, name, children }: Props<T>) {
  const { t } = useWords();
  const [isOver, over] = useState(false);
  const held = useHeld(rows, isOver, name);
  return (
    <div style={{ position: "relative" }} onPointerEnter={() => over(true)} onPointerLeave={() => over(false)}>
      {children(held.rows)}
      {held.waiting > 0 ? (
        <Button size="small" className="updates" onClick={held.release}>
          {t("table.updates", { count: held.waiting })}
        </Button>
      ) : null}
    </div>
  );
}
