/** The frame around every screen: the seven nouns, the project, how live the data is, language, theme and who is signed in. */

import { useQuery } from "@tanstack/react-query";
import { Outlet, useLocation, useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { App, Button, Drawer, Dropdown, Layout, Menu, Modal, Select } from "antd";
import { useState } from "react";
import { useLive } from "../api/live";
import { health, me, projects } from "../api/queries";
import { hasEnded, signOut, useToken } from "../api/session";
import { useScheme, type Wish } from "../design/scheme";
import { useWords } from "../i18n/words";
import { useKeys } from "../parts/keys";
import { Stale } from "../parts/states";
import { now } from "../time/now";
import { useNarrow } from "./narrow";
import { Palette } from "./Palette";
import { NOUNS, PLACES, SETTINGS } from "./places";
import { SignIn } from "./SignIn";
import { fixed } from "./share";

export function Console() {
  const token = useToken();
  return token === null ? <SignIn expired={hasEnded()} /> : <Inside />;
}

function Inside() {
  const { t } = useWords();
  const navigate = useNavigate();
  const [asking, ask] = useState(false);
  const [helping, help] = useState(false);
  const [choosing, choose] = useState(false);
  const isNarrow = useNarrow();
  const jumps = PLACES.map((place) => [place.keys, () => void navigate({ to: place.to })] as const);
  useKeys({ ...Object.fromEntries(jumps), "mod+k": () => ask(true), "?": () => help(true) });
  return (
    <Layout style={{ minHeight: "100%" }}>
      <a href="#content" className="skip">
        {t("nav.skip")}
      </a>
      {isNarrow ? (
        <Drawer open={choosing} onClose={() => choose(false)} placement="left" size={220} title="Headway 进程">
          <Nouns chosen={() => choose(false)} />
        </Drawer>
      ) : (
        <Layout.Sider width={168} theme="light" style={{ borderRight: "1px solid var(--line)" }}>
          <div style={{ padding: "12px 24px", fontWeight: 600, fontSize: 16, whiteSpace: "nowrap" }}>Headway 进程</div>
          <Nouns />
        </Layout.Sider>
      )}
      <Layout style={{ minWidth: 0 }}>
        <Layout.Header className="top">
          <Bar ask={() => ask(true)} open={isNarrow ? () => choose(true) : null} />
        </Layout.Header>
        <div style={{ flex: "auto", minWidth: 0 }}>
          <Down />
          <Outlet />
        </div>
      </Layout>
      <Palette open={asking} close={() => ask(false)} />
      <Modal open={helping} onCancel={() => help(false)} footer={null} title={t("keys.title")}>
        <Help />
      </Modal>
    </Layout>
  );
}

function Nouns({ chosen }: { chosen?: () => void }) {
  const { t } = useWords();
  const navigate = useNavigate();
  const path = useLocation({ select: (location) => location.pathname });
  const homes: Record<string, string> = { nodes: "/cluster", submit: "/jobs" };
  const first = path.split("/")[1] ?? "";
  const item = (place: (typeof PLACES)[number]) => ({ key: place.to, label: t(place.word) });
  return (
    <nav aria-label={t("nav.main")}>
      <Menu
        mode="inline"
        selectedKeys={[homes[first] ?? `/${first}`]}
        onClick={({ key }) => {
          chosen?.();
          void navigate({ to: key as (typeof PLACES)[number]["to"] });
        }}
        items={[...NOUNS.map(item), { type: "divider" as const }, item(SETTINGS)]}
        style={{ borderInlineEnd: 0 }}
      />
    </nav>
  );
}

function Bar({ ask, open }: { ask: () => void; open: (() => void) | null }) {
  const { t, language, setLanguage } = useWords();
  const { wish, choose } = useScheme();
  const isLive = useLive();
  const { data } = useQuery(me());
  const schemes: Wish[] = ["system", "light", "dark"];
  return (
    <div className="spread">
      <div className="row">
        {open ? (
          <Button size="small" aria-label={t("nav.main")} aria-haspopup="dialog" onClick={open}>
            ☰
          </Button>
        ) : null}
        <ProjectChoice />
        <Button size="small" onClick={ask}>
          {t("palette.open")}
        </Button>
        <Share />
      </div>
      <div className="row">
        <span className={isLive ? "quiet" : "warn"} title={t(isLive ? "live.on-help" : "live.off-help")}>
          <span aria-hidden="true">{isLive ? "●" : "◌"}</span> {t(isLive ? "live.on" : "live.off")}
        </span>
        <Button
          size="small"
          type="text"
          onClick={() => setLanguage(language === "zh" ? "en" : "zh")}
          lang={language === "zh" ? "en" : "zh"}
        >
          {language === "zh" ? "English" : "中文"}
        </Button>
        <Select
          size="small"
          variant="borderless"
          aria-label={t("theme.label")}
          value={wish}
          onChange={choose}
          options={schemes.map((value) => ({ value, label: t(`theme.${value}`) }))}
        />
        <Dropdown
          menu={{ items: [{ key: "out", label: t("sign-in.out"), onClick: () => signOut() }] }}
          trigger={["click"]}
        >
          <Button size="small" type="text">
            {data?.user ?? "…"}
          </Button>
        </Dropdown>
      </div>
    </div>
  );
}

/** The link to what is seen now; where a browser gives pages no clipboard it is shown to be copied. */
function Share() {
  const { t } = useWords();
  const router = useRouter();
  const { message, modal } = App.useApp();
  const copy = async () => {
    const { pathname, search } = router.state.location;
    const link = location.origin + router.buildLocation({ to: pathname, search: fixed(pathname, search, now()) }).href;
    const done = await navigator.clipboard?.writeText(link).then(
      () => true,
      () => false,
    );
    if (done) void message.success(t("share.copied"));
    else modal.info({ title: t("share.copy"), content: <code className="mono">{link}</code> });
  };
  return (
    <Button size="small" type="text" title={t("share.help")} onClick={() => void copy()}>
      {t("share.copy")}
    </Button>
  );
}

/** The project in the URL; it goes along from page to page. */
function ProjectChoice() {
  const { t, language } = useWords();
  const navigate = useNavigate();
  const { project } = useSearch({ from: "__root__" });
  const { data } = useQuery(projects());
  const order = new Intl.Collator(language === "zh" ? "zh" : "en");
  const names = (data ?? []).map((one) => one.name).sort(order.compare);
  return (
    <Select
      size="small"
      style={{ minWidth: 150 }}
      aria-label={t("nav.project")}
      showSearch
      value={project ?? ""}
      onChange={(value) => void navigate({ to: ".", search: (now) => ({ ...now, project: value || undefined }) })}
      options={[{ value: "", label: t("nav.all-projects") }, ...names.map((value) => ({ value, label: value }))]}
    />
  );
}

/** Says so while the server does not answer; what is shown stays. */
function Down() {
  const query = useQuery({ ...health(), refetchInterval: 15_000 });
  if (!query.isError) return null;
  return <Stale at={query.dataUpdatedAt || Date.now()} error={query.error} retry={() => void query.refetch()} />;
}

function Help() {
  const { t } = useWords();
  const rows = [
    ["⌘/Ctrl K", t("palette.title")],
    ...PLACES.map((place) => [place.keys, t(place.word)]),
    ["/", t("keys.filter")],
  ];
  return (
    <dl className="facts">
      {rows.map(([key, what]) => [
        <dt key={`k ${key}`} className="mono">
          {key}
        </dt>,
        <dd key={`w ${key}`}>{what}</dd>,
      ])}
    </dl>
  );
}
