/** Searching one rank's log on the server: a text or an expression, the lines that hold it, a click jumps there. */

import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Button, Checkbox, Input } from "antd";
import { type LogWanted, logSearch } from "../../api/queries";
import { useWords } from "../../i18n/words";
import { pieces } from "../../parts/log/ansi";
import { Failed } from "../../parts/states";

interface Props {
  job: string;
  attempt: number;
  rank: number;
  jump: (offset: number) => void;
}

export function LogSearch({ job, attempt, rank, jump }: Props) {
  const { t } = useWords();
  const search = useSearch({ from: "/jobs/$job" });
  const navigate = useNavigate({ from: "/jobs/$job" });
  const wanted: LogWanted = { text: search.find ?? "", regex: search.regex ?? false, exact: search.exact ?? false };
  const set = (part: { find?: string | undefined; regex?: true | undefined; exact?: true | undefined }) =>
    void navigate({ search: (old) => ({ ...old, ...part }), replace: true });
  return (
    <search aria-label={t("log.search")}>
      <div className="row">
        <Input.Search
          size="small"
          allowClear
          style={{ width: 320 }}
          maxLength={500}
          aria-label={t("log.search")}
          placeholder={t("log.search")}
          defaultValue={wanted.text}
          onSearch={(text) => set({ find: text || undefined })}
        />
        <Checkbox checked={wanted.regex} onChange={(event) => set({ regex: event.target.checked || undefined })}>
          {t("log.regex")}
        </Checkbox>
        <Checkbox checked={wanted.exact} onChange={(event) => set({ exact: event.target.checked || undefined })}>
          {t("log.exact")}
        </Checkbox>
      </div>
      {wanted.text ? <Matches job={job} place={{ attempt, rank }} wanted={wanted} jump={jump} /> : null}
    </search>
  );
}

interface MatchesProps {
  job: string;
  place: { attempt: number; rank: number };
  wanted: LogWanted;
  jump: (offset: number) => void;
}

function Matches({ job, place, wanted, jump }: MatchesProps) {
  const { t } = useWords();
  const found = useInfiniteQuery(logSearch(job, place, wanted));
  const lines = (found.data?.pages ?? []).flatMap((page) => page.matches);
  if (found.isError) return <Failed error={found.error} />;
  return (
    <div role="status" style={{ margin: "6px 0" }}>
      <span className="quiet">{found.isFetching ? t("log.searching") : t("log.found", { count: lines.length })}</span>
      <ol className="matches mono">
        {lines.map((line) => (
          <li key={line.offset}>
            <button type="button" onClick={() => jump(line.offset)}>
              {pieces(line.text)
                .map((piece) => piece.text)
                .join("")}
            </button>
          </li>
        ))}
      </ol>
      {found.hasNextPage ? (
        <Button size="small" loading={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
          {t("log.more")}
        </Button>
      ) : null}
    </div>
  );
}
