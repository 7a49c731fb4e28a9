/** The scroll bar of a log: a place in bytes, however many lines there are; marks show where faults are. */

import { useRef } from "react";
import { useWords } from "../../i18n/words";

interface Props {
  top: number;
  size: number;
  shown: number;
  marks: number[];
  jump: (at: number) => void;
}

export function Rail({ top, size, shown, marks, jump }: Props) {
  const { t } = useWords();
  const box = useRef<HTMLDivElement>(null);
  const drag = (event: React.PointerEvent) => {
    if (event.buttons !== 1 || !box.current) return;
    const { top: from, height } = box.current.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientY - from) / height));
    jump(Math.floor(share * Math.max(0, size - shown)));
  };
  const percent = (at: number) => `${(100 * at) / Math.max(1, size)}%`;
  return (
    <div
      ref={box}
      className="rail"
      role="scrollbar"
      aria-label={t("log.place")}
      aria-controls="content"
      aria-orientation="vertical"
      aria-valuemin={0}
      aria-valuemax={size}
      aria-valuenow={top}
      tabIndex={-1}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        drag(event);
      }}
      onPointerMove={drag}
    >
      {size > shown ? <div style={{ top: percent(top), height: percent(shown) }} /> : null}
      {marks.map((at) => (
        <b key={at} style={{ top: percent(at) }} />
      ))}
    </div>
  );
}
