/** Closing a node with a reason and an end, opening it, and testing it with the verified program. */

import { useQuery } from "@tanstack/react-query";
import { App, Button, DatePicker, Form, Input, Modal, Select, Switch } from "antd";
import type { Dayjs } from "dayjs";
import { useState } from "react";
import { api, type Schemas, take } from "../../api/client";
import { projects } from "../../api/queries";
import { useWords } from "../../i18n/words";
import { useAct } from "../../parts/act";
import { useMay } from "../../parts/may";

interface Cordoning {
  reason: string;
  until?: Dayjs;
  needs_retest?: boolean;
}

export function NodeActions({ view, here }: { view: Schemas["CaseView"]; here: Schemas["NodeView"] }) {
  const { t } = useWords();
  const { operate } = useMay();
  const [asked, ask] = useState<"close" | "retest" | null>(null);
  const open = useOpen(here.node.name);
  if (!operate) return <span className="quiet">{t("node.who")}</span>;
  const isClosed = view.case.cordon !== null;
  return (
    <>
      <Button onClick={() => ask("retest")}>{t("node.retest")}</Button>
      {isClosed ? (
        <Button loading={open.isPending} onClick={() => open.mutate(false)}>
          {t("node.open")}
        </Button>
      ) : (
        <Button danger onClick={() => ask("close")}>
          {t("node.close")}
        </Button>
      )}
      <Closing
        node={here.node.name}
        running={Object.keys(here.taken).length}
        shown={asked === "close"}
        hide={() => ask(null)}
      />
      <Retesting node={here.node.name} shown={asked === "retest"} hide={() => ask(null)} />
    </>
  );
}

function useOpen(node: string) {
  return useAct((force: boolean) =>
    take(api.DELETE("/api/v1/nodes/{node}/cordon", { params: { path: { node }, query: { force } } })),
  );
}

interface Asking {
  node: string;
  shown: boolean;
  hide: () => void;
}

function Closing({ node, running, shown, hide }: Asking & { running: number }) {
  const { t } = useWords();
  const [form] = Form.useForm<Cordoning>();
  const act = useAct(
    (body: Schemas["NewCordon"]) => take(api.PUT("/api/v1/nodes/{node}/cordon", { params: { path: { node } }, body })),
    hide,
  );
  const send = ({ reason, until, needs_retest }: Cordoning) =>
    act.mutate({ reason, needs_retest: needs_retest ?? false, ...(until ? { until: until.toISOString() } : {}) });
  return (
    <Modal
      open={shown}
      onCancel={hide}
      title={t("node.close-title", { node })}
      okText={t("node.close")}
      cancelText={t("action.cancel")}
      okButtonProps={{ danger: true, loading: act.isPending }}
      onOk={() => form.submit()}
    >
      <p>{t("node.close-text", { count: running })}</p>
      <Form form={form} layout="vertical" onFinish={send}>
        <Form.Item name="reason" label={t("audit.why")} rules={[{ required: true, message: t("form.required") }]}>
          <Input maxLength={200} />
        </Form.Item>
        <Form.Item name="until" label={t("node.until-label")}>
          <DatePicker showTime />
        </Form.Item>
        <Form.Item name="needs_retest" label={t("node.needs-retest")} valuePropName="checked">
          <Switch />
        </Form.Item>
      </Form>
    </Modal>
  );
}

function Retesting({ node, shown, hide }: Asking) {
  const { t } = useWords();
  const { message } = App.useApp();
  const all = useQuery(projects());
  const [form] = Form.useForm<{ project: string; as_reference?: boolean }>();
  const act = useAct(
    (body: Schemas["NewRetest"]) => take(api.POST("/api/v1/retests", { body })),
    (made) => {
      hide();
      void message.info(t("node.retest-asked", { job: made.job }));
    },
  );
  return (
    <Modal
      open={shown}
      onCancel={hide}
      title={t("node.retest-title", { node })}
      okText={t("node.retest")}
      cancelText={t("action.cancel")}
      okButtonProps={{ loading: act.isPending }}
      onOk={() => form.submit()}
    >
      <p>{t("node.retest-text")}</p>
      <Form
        form={form}
        layout="vertical"
        onFinish={(filled) => act.mutate({ nodes: [node], as_reference: false, ...filled })}
      >
        <Form.Item name="project" label={t("node.pays")} rules={[{ required: true, message: t("form.required") }]}>
          <Select options={(all.data ?? []).map(({ name }) => ({ value: name, label: name }))} />
        </Form.Item>
        <Form.Item name="as_reference" label={t("node.as-reference")} valuePropName="checked">
          <Switch />
        </Form.Item>
      </Form>
    </Modal>
  );
}
