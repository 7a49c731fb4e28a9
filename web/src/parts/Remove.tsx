/** A press that takes something away, after it was said what is lost. */

import { Button, Popconfirm } from "antd";
import { type Key, useWords } from "../i18n/words";

interface Props {
  lost: string;
  onConfirm: () => void;
  isBusy?: boolean;
  word?: Key;
}

export function Remove({ lost, onConfirm, isBusy = false, word = "rules.remove" }: Props) {
  const { t } = useWords();
  return (
    <Popconfirm title={lost} okText={t(word)} cancelText={t("action.cancel")} onConfirm={onConfirm}>
      <Button size="small" danger loading={isBusy}>
        {t(word)}
      </Button>
    </Popconfirm>
  );
}
