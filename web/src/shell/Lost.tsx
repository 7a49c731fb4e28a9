/** An address that leads nowhere. */

import { Link } from "@tanstack/react-router";
import { useWords } from "../i18n/words";
import { Page } from "../parts/Page";
import { Nothing } from "../parts/states";

export function Lost() {
  const { t } = useWords();
  return (
    <Page title={t("lost.title")}>
      <Nothing action={<Link to="/">{t("nav.overview")}</Link>}>{t("lost.text")}</Nothing>
    </Page>
  );
}
