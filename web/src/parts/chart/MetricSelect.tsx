/** Chooses a measurement by what it is called. */

import { Select } from "antd";
import { useWords } from "../../i18n/words";
import { METRICS, metricName } from "./metrics";

export function MetricSelect({ value, onChange }: { value: string; onChange: (name: string) => void }) {
  const { t } = useWords();
  const names = METRICS.includes(value) ? METRICS : [value, ...METRICS];
  return (
    <Select
      showSearch={{ optionFilterProp: "label" }}
      style={{ width: 220 }}
      aria-label={t("cluster.metric")}
      value={value}
      onChange={onChange}
      options={names.map((name) => ({ value: name, label: metricName(name, t) }))}
    />
  );
}
