/** How a job stands: icon, word and for how long, never by colour alone. */

import { Tooltip } from "antd";
import type { Schemas } from "../api/client";
import { useScheme } from "../design/scheme";
import { STATUS, type Status, since, statusOf } from "../design/status";
import { useWords } from "../i18n/words";
import { duration, moment } from "../time/durations";
import { useNow } from "../time/now";

export function StatusTag({ status, from, note }: { status: Status; from?: string | null | undefined; note?: string }) {
  const { t, language } = useWords();
  const { scheme } = useScheme();
  const now = useNow();
  const look = STATUS[status];
  const long = from ? duration((now.getTime() - Date.parse(from)) / 1000, language) : null;
  const tag = (
    <span style={{ color: look[scheme], whiteSpace: "nowrap" }} data-status={status}>
      <span aria-hidden="true" className="sign">
        {look.icon}
      </span>
      {t(look.word)} {note ?? long ?? ""}
    </span>
  );
  return from ? <Tooltip title={moment(from)}>{tag}</Tooltip> : tag;
}

/** A job's status; one that waits says its place, not how long. */
export function JobStatus({ view }: { view: Schemas["JobView"] }) {
  const { t } = useWords();
  const { language } = useWords();
  const now = useNow();
  const ended = view.job.ended_at;
  if (ended) {
    const time = duration((now.getTime() - Date.parse(ended)) / 1000, language);
    return <StatusTag status={statusOf(view)} from={ended} note={t("jobs.ago", { time })} />;
  }
  const note = view.waits ? t("jobs.place", { place: view.waits.position }) : undefined;
  return <StatusTag status={statusOf(view)} from={since(view)} {...(note ? { note } : {})} />;
}
