/** A press that removes something, after it was said what is lost. */

import { Button, Popconfirm } from "antd";
import { useWords } from "../i18n/words";

export function Remove({ lost, onConfirm }: { lost: string; onConfirm: () => void }) {
  const { t } = useWords();
  return (
    <Popconfirm title={lost} okText={t("rules.remove")} cancelText={t("action.cancel")} onConfirm={onConfirm}>
      <Button size="small" danger>
        {t("rules.remove")}
      </Button>
    </Popconfirm>
  );
}
