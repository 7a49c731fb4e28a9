/** Where is my job, and when? A long list, drawn only where it is seen; rows do not jump while the pointer is over them. */

import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Button, Input, type InputRef, Select } from "antd";
import { useMemo, useRef } from "react";
import type { Schemas } from "../../api/client";
import { usePace } from "../../api/live";
import { jobPages, jobsWanted } from "../../api/queries";
import { STATUS } from "../../design/status";
import { useWords } from "../../i18n/words";
import { troubled } from "../../parts/jobs";
import { useKeys } from "../../parts/keys";
import { Page } from "../../parts/Page";
import { SubmitButton } from "../../parts/Simple";
import { Still } from "../../parts/Still";
import { Failed, FilteredAway, Loading, Nothing, Stale } from "../../parts/states";
import { useNow } from "../../time/now";
import { JobTable } from "./JobTable";

type JobState = Schemas["JobState"];
const STATES: JobState[] = [
  "queued",
  "starting",
  "running",
  "stopping",
  "recovering",
  "held",
  "succeeded",
  "failed",
  "stopped",
];

export function Jobs() {
  const { t } = useWords();
  const wanted = useSearch({ from: "/jobs" });
  const { project } = useSearch({ from: "__root__" });
  const query = useInfiniteQuery({
    ...jobPages(jobsWanted({ ...wanted, project })),
    refetchInterval: usePace(15),
  });
  const now = useNow(15).getTime();
  const all = useMemo(() => (query.data?.pages ?? []).flatMap((page) => page.items), [query.data]);
  const bad = useMemo(() => troubled(all, now), [all, now]);
  const shown = wanted.trouble ? bad : all;
  return (
    <Page title={t("nav.jobs")} actions={<SubmitButton />}>
      <Filters />
      {bad.length > 0 && !wanted.trouble ? <Warning views={bad} /> : null}
      {query.isRefetchError ? (
        <Stale at={query.dataUpdatedAt} error={query.error} retry={() => void query.refetch()} />
      ) : null}
      {query.isPending ? <Loading rows={12} /> : null}
      {query.isError && !query.data ? <Failed error={query.error} retry={() => void query.refetch()} /> : null}
      {query.data && shown.length === 0 ? <None total={all.length} /> : null}
      {shown.length > 0 ? (
        <>
          <Still rows={shown} name={(view) => view.job.id}>
            {(still) => (
              <JobTable
                views={still}
                more={() => query.hasNextPage && !query.isFetchingNextPage && void query.fetchNextPage()}
              />
            )}
          </Still>
          <div className="quiet">
            {t(query.hasNextPage ? "jobs.loaded-more" : "jobs.loaded", { count: shown.length })}
          </div>
        </>
      ) : null}
    </Page>
  );
}

function Filters() {
  const { t } = useWords();
  const wanted = useSearch({ from: "/jobs" });
  const navigate = useNavigate({ from: "/jobs" });
  const field = useRef<InputRef>(null);
  useKeys({ "/": () => field.current?.focus() });
  return (
    <div className="row">
      <Select
        mode="multiple"
        allowClear
        style={{ minWidth: 220 }}
        aria-label={t("jobs.status")}
        placeholder={t("jobs.any-status")}
        value={wanted.state ?? []}
        onChange={(state) => void navigate({ search: (now) => ({ ...now, state }), replace: true })}
        options={STATES.map((value) => ({ value, label: `${STATUS[value].icon} ${t(STATUS[value].word)}` }))}
      />
      <Input.Search
        ref={field}
        allowClear
        style={{ width: 260 }}
        aria-label={t("jobs.filter")}
        placeholder={t("jobs.filter")}
        defaultValue={wanted.text}
        onSearch={(text) => void navigate({ search: (now) => ({ ...now, text: text || undefined }), replace: true })}
      />
      {wanted.trouble ? (
        <Button onClick={() => void navigate({ search: (now) => ({ ...now, trouble: undefined }) })}>
          {t("jobs.only-trouble")} ✕
        </Button>
      ) : null}
    </div>
  );
}

function Warning({ views }: { views: Schemas["JobView"][] }) {
  const { t } = useWords();
  const navigate = useNavigate({ from: "/jobs" });
  const cards = views.filter((view) => view.job.state !== "failed").reduce((sum, view) => sum + view.devices, 0);
  return (
    <div className="notice spread">
      <span>
        <span aria-hidden="true">⚠</span> {t("jobs.trouble", { count: views.length, cards })}
      </span>
      <Button size="small" type="link" onClick={() => void navigate({ search: (now) => ({ ...now, trouble: true }) })}>
        {t("jobs.only-trouble")}
      </Button>
    </div>
  );
}

function None({ total }: { total: number }) {
  const { t } = useWords();
  const wanted = useSearch({ from: "/jobs" });
  const navigate = useNavigate({ from: "/jobs" });
  const filters = [
    ...(wanted.state ?? []).map((state) => t(STATUS[state].word)),
    ...(wanted.text ? [wanted.text] : []),
    ...(wanted.trouble ? [t("overview.trouble")] : []),
  ];
  if (filters.length === 0 && total === 0)
    return (
      <Nothing action={<SubmitButton />} command="headway submit job.toml">
        {t("jobs.none")}
      </Nothing>
    );
  return (
    <FilteredAway
      filter={filters.join(" · ")}
      clear={() => void navigate({ search: (now) => ({ project: now.project }) })}
    />
  );
}
