/** Who belongs to which project, and as what: given and taken back by administrators, read by leads. */

import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { AutoComplete, Button, Form, Select } from "antd";
import { api, type Schemas, take } from "../../api/client";
import { projects, users } from "../../api/queries";
import { useWords } from "../../i18n/words";
import { useAct } from "../../parts/act";
import { useMay } from "../../parts/may";
import { Panel } from "../../parts/Page";
import { Remove } from "../../parts/Remove";
import { Simple } from "../../parts/Simple";
import { Data, Nothing } from "../../parts/states";

type Role = Schemas["Role"];
type Person = { user: string; roles: string[][] };

const ROLES: Role[] = ["viewer", "member", "lead", "operator", "admin"];
const EVERYWHERE = "*";

interface Held {
  user: string;
  role: Role;
  scope: string;
}

/** Each role that somebody holds, by project and then by name; of one project with those that hold everywhere. */
export function heldRoles(people: Person[], project: string | undefined): Held[] {
  return people
    .flatMap(({ user, roles }) => roles.map(([role, scope = EVERYWHERE]) => ({ user, role: role as Role, scope })))
    .filter(({ scope }) => !project || scope === project || scope === EVERYWHERE)
    .sort((a, b) => a.scope.localeCompare(b.scope) || a.user.localeCompare(b.user));
}

export function Members() {
  const { t } = useWords();
  const { administer } = useMay();
  const { project } = useSearch({ from: "__root__" });
  const found = useQuery(users());
  return (
    <div className="stack">
      <Data query={found}>
        {(people) => {
          const held = heldRoles(people, project);
          if (held.length === 0) return <Nothing command="headway role grant USER ROLE">{t("members.none")}</Nothing>;
          return (
            <Simple
              rows={held.map((one) => ({
                key: `${one.user} ${one.role} ${one.scope}`,
                scope: one.scope === EVERYWHERE ? t("members.everywhere") : one.scope,
                user: one.user,
                role: t(`role.${one.role}`),
                act: administer ? <TakeBack held={one} /> : "",
              }))}
              columns={[
                ["scope", t("jobs.project")],
                ["user", t("members.user")],
                ["role", t("members.role")],
                ["act", ""],
              ]}
            />
          );
        }}
      </Data>
      {administer ? (
        <Giving people={found.data ?? []} project={project} />
      ) : (
        <p className="quiet">{t("members.asks")}</p>
      )}
    </div>
  );
}

function TakeBack({ held: { user, role, scope } }: { held: Held }) {
  const { t } = useWords();
  const act = useAct(() =>
    take(
      api.DELETE("/api/v1/users/{user}/roles/{role}", {
        params: { path: { user, role }, query: scope === EVERYWHERE ? {} : { project: scope } },
      }),
    ),
  );
  return (
    <Remove
      lost={t("members.remove-text", { user, role: t(`role.${role}`) })}
      isBusy={act.isPending}
      onConfirm={() => act.mutate(undefined)}
    />
  );
}

interface Given {
  user: string;
  role: Role;
  scope: string;
}

function Giving({ people, project }: { people: Person[]; project: string | undefined }) {
  const { t } = useWords();
  const all = useQuery(projects());
  const [form] = Form.useForm<Given>();
  const act = useAct(
    ({ user, role, scope }: Given) =>
      take(
        api.POST("/api/v1/users/{user}/roles", {
          params: { path: { user } },
          body: { role, project: scope === EVERYWHERE ? null : scope },
        }),
      ),
    () => form.resetFields(["user"]),
  );
  const required = [{ required: true, message: t("form.required") }];
  const scopes = [
    ...(all.data ?? []).map(({ name }) => ({ value: name, label: name })),
    { value: EVERYWHERE, label: t("members.everywhere") },
  ];
  return (
    <Panel title={t("members.add")}>
      <Form
        form={form}
        layout="inline"
        style={{ rowGap: 8 }}
        onFinish={act.mutate}
        initialValues={{ role: "member", scope: project }}
      >
        <Form.Item name="user" label={t("members.user")} rules={required}>
          <AutoComplete style={{ width: 160 }} options={people.map(({ user }) => ({ value: user }))} />
        </Form.Item>
        <Form.Item name="role" label={t("members.role")}>
          <Select style={{ width: 140 }} options={ROLES.map((value) => ({ value, label: t(`role.${value}`) }))} />
        </Form.Item>
        <Form.Item name="scope" label={t("jobs.project")} rules={required}>
          <Select style={{ minWidth: 160 }} options={scopes} />
        </Form.Item>
        <Button htmlType="submit" loading={act.isPending}>
          {t("members.give")}
        </Button>
      </Form>
    </Panel>
  );
}
