/** How it was launched: template, command, resources, data, code. */

import type { Schemas } from "../../api/client";
import { useWords } from "../../i18n/words";
import { Facts } from "../../parts/Page";
import { Moment } from "../../parts/Quantity";
import { duration, isoSeconds } from "../../time/durations";

export function Launch({ view }: { view: Schemas["JobView"] }) {
  const { t, language } = useWords();
  const { spec, owner, submitted_at: submitted } = view.job;
  const { nodes = 1, devices_per_node: each = 1, ranks_per_node: ranks = 1, device_types: types = [] } = spec.request;
  const limit = spec.limit ? isoSeconds(spec.limit) : null;
  const code = (text: string) => <code className="mono">{text}</code>;
  return (
    <Facts
      rows={[
        [
          t("job.submitted"),
          <span key="s">
            <Moment at={submitted} /> · {owner} · {spec.project}
          </span>,
        ],
        [t("submit.template"), spec.template],
        [t("job.command"), code(spec.command.join(" "))],
        [t("job.resources"), t("job.request", { nodes, each, ranks, types: types.join(" / ") || "—" })],
        [t("submit.priority"), t(`priority.${spec.priority ?? "normal"}`)],
        [t("submit.limit"), limit === null ? t("submit.no-limit") : duration(limit, language)],
        [t("submit.dataset"), spec.dataset ?? "—"],
        [t("submit.commit"), spec.commit ? code(spec.commit) : "—"],
        [t("submit.workdir"), spec.workdir ? code(spec.workdir) : "—"],
        ...Object.entries(spec.parameters ?? {}).map<[string, React.ReactNode]>(([name, value]) => [name, code(value)]),
      ]}
    />
  );
}
