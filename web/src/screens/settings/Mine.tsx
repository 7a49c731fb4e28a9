/** Who I am here: my roles, my password, my tokens. */

import { queryOptions, useQuery } from "@tanstack/react-query";
import { App, Button, Form, Input } from "antd";
import { api, type Schemas, take } from "../../api/client";
import { me } from "../../api/queries";
import { known, useWords } from "../../i18n/words";
import { useAct } from "../../parts/act";
import { Panel } from "../../parts/Page";
import { Moment } from "../../parts/Quantity";
import { Remove } from "../../parts/Remove";
import { Simple } from "../../parts/Simple";
import { Data } from "../../parts/states";

const tokens = (user: string) =>
  queryOptions({
    queryKey: ["tokens", user],
    queryFn: () => take(api.GET("/api/v1/users/{user}/tokens", { params: { path: { user } } })),
  });

export function Mine() {
  const { t } = useWords();
  const found = useQuery(me());
  const role = (name: string) => {
    const key = known(`role.${name}`);
    return key ? t(key) : name;
  };
  return (
    <Data query={found}>
      {(mine) => (
        <div className="stack">
          <Panel title={mine.user}>
            {mine.roles.length === 0 ? t("settings.no-roles") : null}
            {mine.roles.map(([name = "", project]) => (
              <div key={`${name} ${project}`}>
                {role(name)} · {project === "*" ? t("settings.everywhere") : project}
              </div>
            ))}
          </Panel>
          <Tokens user={mine.user} />
          <Password user={mine.user} />
        </div>
      )}
    </Data>
  );
}

function Tokens({ user }: { user: string }) {
  const { t } = useWords();
  const { modal } = App.useApp();
  const found = useQuery(tokens(user));
  const issue = useAct(
    () => take(api.POST("/api/v1/users/{user}/tokens", { params: { path: { user } }, body: { days: 90 } })),
    (made) => void modal.info({ title: t("settings.token-once"), content: <code className="mono">{made.token}</code> }),
  );
  const revoke = useAct((token: string) =>
    take(api.DELETE("/api/v1/users/{user}/tokens/{token}", { params: { path: { user, token } } })),
  );
  const end = (one: Schemas["Token"]) => (
    <Remove lost={t("settings.revoke-text")} word="settings.revoke" onConfirm={() => revoke.mutate(one.id)} />
  );
  return (
    <Panel
      title={t("settings.tokens")}
      extra={
        <Button size="small" loading={issue.isPending} onClick={() => issue.mutate(undefined)}>
          {t("settings.issue")}
        </Button>
      }
    >
      <Data query={found}>
        {(all) => (
          <Simple
            rows={all.map((one) => ({
              key: one.id,
              id: <code className="mono">{one.id}</code>,
              created: <Moment at={one.created_at} />,
              expires: <Moment at={one.expires_at} />,
              act: end(one),
            }))}
            columns={[
              ["id", t("sign-in.token")],
              ["created", t("settings.created")],
              ["expires", t("settings.expires")],
              ["act", ""],
            ]}
          />
        )}
      </Data>
    </Panel>
  );
}

function Password({ user }: { user: string }) {
  const { t } = useWords();
  const { message } = App.useApp();
  const [form] = Form.useForm<Schemas["NewPassword"]>();
  const act = useAct(
    (body: Schemas["NewPassword"]) =>
      take(api.PUT("/api/v1/users/{user}/password", { params: { path: { user } }, body })),
    () => {
      form.resetFields();
      void message.success(t("settings.password-set"));
    },
  );
  return (
    <Panel title={t("sign-in.password")}>
      <Form form={form} layout="inline" onFinish={act.mutate}>
        <Form.Item name="current" label={t("settings.password-now")}>
          <Input.Password autoComplete="current-password" />
        </Form.Item>
        <Form.Item
          name="password"
          label={t("settings.password-new")}
          rules={[{ required: true, min: 8, message: t("settings.password-short") }]}
        >
          <Input.Password autoComplete="new-password" />
        </Form.Item>
        <Button htmlType="submit" loading={act.isPending}>
          {t("settings.password-change")}
        </Button>
      </Form>
    </Panel>
  );
}
