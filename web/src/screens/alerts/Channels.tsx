/** Ways to people: set up, tried, taken away. A URL is a secret: it is sent once and never shown again. */

import { useQuery } from "@tanstack/react-query";
import { Button, Checkbox, Form, Input, Modal, Select } from "antd";
import { useState } from "react";
import { api, type Schemas, take } from "../../api/client";
import { channels } from "../../api/queries";
import { useWords } from "../../i18n/words";
import { useAct } from "../../parts/act";
import { useMay } from "../../parts/may";
import { Quantity } from "../../parts/Quantity";
import { Remove } from "../../parts/Remove";
import { Simple } from "../../parts/Simple";
import { Data, Nothing } from "../../parts/states";

type Channel = Schemas["ChannelView"];

/** As Apprise writes them; the words in capitals are the secrets to be put in. */
const EXAMPLES = [
  "dingtalk://TOKEN",
  "wecombot://KEY",
  "feishu://TOKEN",
  "mailto://USER:PASSWORD@HOST?to=ADDRESS",
  "json://HOST/PATH",
];

export function Channels() {
  const { t } = useWords();
  const [asking, ask] = useState(false);
  const found = useQuery(channels());
  const add = <Button onClick={() => ask(true)}>{t("channel.add")}</Button>;
  return (
    <div className="stack">
      <Data query={found}>
        {(all) =>
          all.length === 0 ? (
            <Nothing action={add} command="headway alert channel set">
              {t("alerts.no-channels")}
            </Nothing>
          ) : (
            <>
              <div>{add}</div>
              <List all={all} />
            </>
          )
        }
      </Data>
      <Asking shown={asking} hide={() => ask(false)} />
    </div>
  );
}

function List({ all }: { all: Channel[] }) {
  const { t } = useWords();
  const may = useMay();
  const rows = all.map((one) => ({
    key: one.name,
    name: one.name,
    kind: <code className="mono">{one.kind}</code>,
    whose: t(one.personal ? "channel.personal" : "channel.shared"),
    language: one.language === "zh" ? "中文" : "English",
    author: one.author,
    waiting: <Quantity value={one.waiting} />,
    error: one.error ? <span className="bad">✕ {one.error}</span> : "—",
    act: may.operate || one.author === may.user ? <Actions channel={one.name} /> : "",
  }));
  return (
    <Simple
      rows={rows}
      columns={[
        ["name", t("alerts.channel")],
        ["kind", t("alerts.kind")],
        ["whose", t("channel.whose")],
        ["language", t("alerts.language")],
        ["author", t("channel.author")],
        ["waiting", t("alerts.waiting")],
        ["error", t("alerts.error")],
        ["act", ""],
      ]}
    />
  );
}

function Actions({ channel }: { channel: string }) {
  const { t } = useWords();
  const [tried, tell] = useState(false);
  const params = { path: { name: channel } };
  const attempt = useAct(
    () => take(api.POST("/api/v1/channels/{name}/test", { params })),
    () => tell(true),
  );
  const remove = useAct(() => take(api.DELETE("/api/v1/channels/{name}", { params })));
  return (
    <span className="row">
      <Button size="small" loading={attempt.isPending} onClick={() => attempt.mutate(undefined)}>
        {t("channel.test")}
      </Button>
      {tried ? <span role="status">✓ {t("channel.tested")}</span> : null}
      <Remove lost={t("channel.remove-text")} onConfirm={() => remove.mutate(undefined)} />
    </span>
  );
}

interface Filled {
  name: string;
  url: string;
  language: "zh" | "en";
  shared?: boolean;
}

function Asking({ shown, hide }: { shown: boolean; hide: () => void }) {
  const { t, language } = useWords();
  const { operate } = useMay();
  const [form] = Form.useForm<Filled>();
  const act = useAct(
    ({ name, url, language: spoken, shared }: Filled) =>
      take(
        api.PUT("/api/v1/channels/{name}", {
          params: { path: { name } },
          body: { url, language: spoken, personal: !shared },
        }),
      ),
    () => {
      form.resetFields();
      hide();
    },
  );
  const required = [{ required: true, message: t("form.required") }];
  return (
    <Modal
      open={shown}
      onCancel={hide}
      title={t("channel.add")}
      okText={t("rules.set")}
      cancelText={t("action.cancel")}
      okButtonProps={{ loading: act.isPending }}
      onOk={() => form.submit()}
      afterClose={() => form.resetFields()}
    >
      <Form form={form} layout="vertical" onFinish={act.mutate} initialValues={{ language, shared: operate }}>
        <Form.Item name="name" label={t("alerts.channel")} rules={required}>
          <Input autoComplete="off" />
        </Form.Item>
        <Form.Item name="url" label={t("channel.url")} extra={<Help />} rules={required}>
          <Input.Password autoComplete="new-password" className="mono" />
        </Form.Item>
        <Form.Item name="language" label={t("alerts.language")}>
          <Select
            options={[
              { value: "zh", label: "中文" },
              { value: "en", label: "English" },
            ]}
          />
        </Form.Item>
        {operate ? (
          <Form.Item name="shared" valuePropName="checked">
            <Checkbox>{t("channel.share")}</Checkbox>
          </Form.Item>
        ) : (
          <span className="quiet">{t("channel.only-mine")}</span>
        )}
      </Form>
    </Modal>
  );
}

function Help() {
  const { t } = useWords();
  return (
    <>
      {t("channel.url-help")}
      {EXAMPLES.map((example) => (
        <div key={example}>
          <code className="mono">{example}</code>
        </div>
      ))}
    </>
  );
}
