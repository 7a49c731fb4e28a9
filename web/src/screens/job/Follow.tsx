/** Following a job: its start, its stalls and its end are told through a channel. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Button, Dropdown } from "antd";
import { api, take } from "../../api/client";
import { channels, following } from "../../api/queries";
import { useWords } from "../../i18n/words";
import { useAct } from "../../parts/act";

export function Follow({ job }: { job: string }) {
  const { t } = useWords();
  const present = useQuery(following(job));
  const ways = useQuery(channels());
  const params = { path: { job } };
  const follow = useAct((channel: string) =>
    take(api.PUT("/api/v1/jobs/{job}/following", { params, body: { channel } })),
  );
  const leave = useAct(() => take(api.DELETE("/api/v1/jobs/{job}/following", { params })));
  if (present.data === undefined || !ways.data) return null;
  const through = present.data?.channel;
  const choices = ways.data.map((way) => ({
    key: way.name,
    label: t("follow.through", { channel: way.name, kind: way.kind }),
    onClick: () => follow.mutate(way.name),
  }));
  const none = {
    key: "none",
    label: (
      <Link to="/alerts" search={{ tab: "channels" }}>
        {t("follow.no-channel")}
      </Link>
    ),
  };
  const stop = { key: "stop", label: t("follow.stop"), onClick: () => leave.mutate(undefined) };
  const items = [...(choices.length > 0 ? choices : [none]), ...(through ? [{ type: "divider" as const }, stop] : [])];
  return (
    <Dropdown menu={{ items, selectedKeys: through ? [through] : [] }} trigger={["click"]}>
      <Button title={t("follow.help")} loading={follow.isPending || leave.isPending}>
        {through ? `✓ ${t("follow.following", { channel: through })}` : t("follow.start")}
      </Button>
    </Dropdown>
  );
}
