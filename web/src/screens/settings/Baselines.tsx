/** What retests are held to: the speeds of each shape, from which retest, set by whom. */

import { useQuery } from "@tanstack/react-query";
import { references } from "../../api/queries";
import { useWords } from "../../i18n/words";
import { figure, Moment } from "../../parts/Quantity";
import { Simple } from "../../parts/Simple";
import { Data, Nothing } from "../../parts/states";

export function Baselines() {
  const { t, language } = useWords();
  const found = useQuery(references());
  return (
    <Data query={found}>
      {(all) =>
        all.length === 0 ? (
          <Nothing command="headway node retest NODE --as-reference">{t("baselines.none")}</Nothing>
        ) : (
          <Simple
            rows={all.map((one) => ({
              key: one.shape,
              shape: <code className="mono">{one.shape}</code>,
              speeds: Object.entries(one.speeds).map(([name, speed]) => (
                <div key={name} className="number">
                  {name} {figure(speed, 2, language)}
                </div>
              )),
              retest: <code className="mono">{one.retest}</code>,
              by: one.set_by,
              at: <Moment at={one.set_at} />,
            }))}
            columns={[
              ["shape", t("baselines.shape")],
              ["speeds", t("baselines.speeds")],
              ["retest", t("baselines.retest")],
              ["by", t("baselines.by")],
              ["at", t("baselines.at")],
            ]}
          />
        )
      }
    </Data>
  );
}
