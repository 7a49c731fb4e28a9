/** Serving a model version: a new service, or a further version of one, which waits for a shift. */

import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { Button, Form, Input, Modal, Select } from "antd";
import { useState } from "react";
import { api, type Schemas, take } from "../../api/client";
import { models, projects, templates } from "../../api/queries";
import { useWords } from "../../i18n/words";
import { useAct } from "../../parts/act";
import { useMay } from "../../parts/may";

export function Deploy() {
  const { t } = useWords();
  const { project } = useSearch({ from: "__root__" });
  const [shown, show] = useState(false);
  const [form] = Form.useForm<Schemas["NewService"]>();
  const act = useAct(
    (body: Schemas["NewService"]) => take(api.POST("/api/v1/services", { body })),
    () => show(false),
  );
  const choices = useChoices(shown);
  const required = [{ required: true, message: t("form.required") }];
  if (!useMay().work(project)) return null;
  return (
    <>
      <Button type="primary" onClick={() => show(true)}>
        {t("services.deploy")}
      </Button>
      <Modal
        open={shown}
        onCancel={() => show(false)}
        title={t("services.deploy")}
        okText={t("services.deploy")}
        cancelText={t("action.cancel")}
        okButtonProps={{ loading: act.isPending }}
        onOk={() => form.submit()}
      >
        <p>{t("services.deploy-text")}</p>
        <Form form={form} layout="vertical" onFinish={act.mutate} initialValues={{ project }}>
          <Form.Item name="name" label={t("services.name")} rules={required}>
            <Input />
          </Form.Item>
          <Form.Item name="project" label={t("jobs.project")} rules={required}>
            <Select options={choices.projects} />
          </Form.Item>
          <Form.Item name="version" label={t("models.version")} rules={required}>
            <Select showSearch options={choices.versions} notFoundContent={t("submit.no-versions")} />
          </Form.Item>
          <Form.Item name="template" label={t("submit.template")}>
            <Select allowClear options={choices.templates} />
          </Form.Item>
        </Form>
      </Modal>
    </>
  );
}

function useChoices(enabled: boolean) {
  const of = (value: string) => ({ value, label: value });
  const all = useQuery({ ...projects(), enabled });
  const versions = useQuery({ ...models(), enabled });
  const forms = useQuery({ ...templates(), enabled });
  const serving = (one: Record<string, unknown>) => (one.content as { kind?: string } | undefined)?.kind === "service";
  return {
    projects: (all.data ?? []).map(({ name }) => of(name)),
    versions: (versions.data ?? []).map(({ name, number }) => of(`${name}@${number}`)),
    templates: (forms.data ?? []).filter(serving).map(({ name }) => of(String(name))),
  };
}
