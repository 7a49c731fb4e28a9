/** A window between two moments, and a press that lets it move with the clock again. */

import { Button } from "antd";
import { shortMoment } from "../../time/durations";
import { now } from "../../time/now";

interface Props {
  from: string | undefined;
  to: string | undefined;
  clear: () => void;
}

export function FixedWindow({ from, to, clear }: Props) {
  if (!from) return null;
  const today = new Date(now());
  return (
    <Button size="small" onClick={clear}>
      {shortMoment(from, today)} – {to ? shortMoment(to, today) : ""} ✕
    </Button>
  );
}
