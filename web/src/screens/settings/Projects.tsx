/** Departments and projects, and adding to them. */

import { useQuery } from "@tanstack/react-query";
import { Button, Form, Input, Select } from "antd";
import { api, type Schemas, take } from "../../api/client";
import { departments, projects } from "../../api/queries";
import { useWords } from "../../i18n/words";
import { useAct } from "../../parts/act";
import { useMay } from "../../parts/may";
import { Panel } from "../../parts/Page";
import { Moment } from "../../parts/Quantity";
import { Simple } from "../../parts/Simple";
import { Data, Nothing } from "../../parts/states";

export function Projects() {
  const { t } = useWords();
  const { administer } = useMay();
  const found = useQuery(projects());
  return (
    <div className="stack">
      <Data query={found}>
        {(all) =>
          all.length === 0 ? (
            <Nothing command="headway project create NAME --department DEPARTMENT">{t("settings.no-projects")}</Nothing>
          ) : (
            <Simple
              rows={all.map((one) => ({
                key: one.name,
                name: one.name,
                department: one.department,
                created: <Moment at={one.created_at} />,
                closed: <Moment at={one.closed_at} />,
              }))}
              columns={[
                ["name", t("jobs.project")],
                ["department", t("usage.department")],
                ["created", t("settings.created")],
                ["closed", t("settings.closed")],
              ]}
            />
          )
        }
      </Data>
      {administer ? <Adding /> : null}
    </div>
  );
}

function Adding() {
  const { t } = useWords();
  const all = useQuery(departments());
  const addDepartment = useAct((body: Schemas["NewDepartment"]) => take(api.POST("/api/v1/departments", { body })));
  const addProject = useAct((body: Schemas["NewProject"]) => take(api.POST("/api/v1/projects", { body })));
  const required = [{ required: true, message: t("form.required") }];
  return (
    <Panel title={t("settings.add")}>
      <Form layout="inline" onFinish={addDepartment.mutate}>
        <Form.Item name="name" label={t("usage.department")} rules={required}>
          <Input />
        </Form.Item>
        <Button htmlType="submit" loading={addDepartment.isPending}>
          {t("settings.add-department")}
        </Button>
      </Form>
      <Form layout="inline" style={{ marginTop: 12 }} onFinish={addProject.mutate}>
        <Form.Item name="name" label={t("jobs.project")} rules={required}>
          <Input />
        </Form.Item>
        <Form.Item name="department" label={t("usage.department")} rules={required}>
          <Select
            style={{ minWidth: 160 }}
            options={(all.data ?? []).map(({ name }) => ({ value: name, label: name }))}
          />
        </Form.Item>
        <Button htmlType="submit" loading={addProject.isPending}>
          {t("settings.add-project")}
        </Button>
      </Form>
    </Panel>
  );
}
