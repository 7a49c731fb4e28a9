/** Requests for more than the quota: what waits to be decided first, then what was decided; and asking for one. */

import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { Button, DatePicker, Form, Input, InputNumber, Modal, Select } from "antd";
import type { Dayjs } from "dayjs";
import { useState } from "react";
import { api, type Schemas, take } from "../../api/client";
import { usePace } from "../../api/live";
import { grants, nodes, projects } from "../../api/queries";
import { useWords } from "../../i18n/words";
import { useAct } from "../../parts/act";
import { useMay } from "../../parts/may";
import { Panel } from "../../parts/Page";
import { Moment, Quantity } from "../../parts/Quantity";
import { Simple } from "../../parts/Simple";
import { Data, Nothing } from "../../parts/states";

type GrantView = Schemas["GrantView"];

export function Grants() {
  const { t } = useWords();
  const { project } = useSearch({ from: "__root__" });
  const may = useMay();
  const [asking, ask] = useState(false);
  const found = useQuery({ ...grants(), refetchInterval: usePace(15) });
  return (
    <Data query={found}>
      {(all) => {
        const mine = all.filter(({ request }) => !project || request.project === project);
        const open = mine.filter(({ request }) => request.state === "requested");
        const decided = mine.filter(({ request }) => request.state !== "requested");
        return (
          <div className="stack">
            <Panel
              title={t("grants.inbox")}
              extra={may.work(project) ? <Button onClick={() => ask(true)}>{t("grants.ask")}</Button> : null}
            >
              {open.length === 0 ? <Nothing>{t("grants.none")}</Nothing> : <List views={open} isOpen />}
            </Panel>
            <Panel title={t("grants.decided")}>
              {decided.length === 0 ? (
                <span className="quiet">{t("grants.none-decided")}</span>
              ) : (
                <List views={decided} isOpen={false} />
              )}
            </Panel>
            <Asking shown={asking} hide={() => ask(false)} />
          </div>
        );
      }}
    </Data>
  );
}

function List({ views, isOpen }: { views: GrantView[]; isOpen: boolean }) {
  const { t } = useWords();
  const rows = views.map((view) => {
    const { request } = view;
    return {
      key: request.id,
      project: request.project,
      cards: <Quantity value={request.devices} unit={request.device_type} />,
      span: (
        <>
          <Moment at={request.begins} /> – <Moment at={request.ends} />
        </>
      ),
      by: request.requested_by,
      reason: request.reason,
      state: `${t(`grant.${request.state ?? "requested"}`)}${view.active ? ` · ${t("grants.active")}` : ""}${view.ends_soon ? ` · ${t("grants.soon")}` : ""}`,
      decide: isOpen ? <Decide grant={request} /> : `${request.decided_by ?? "—"} ${request.note ?? ""}`,
    };
  });
  return (
    <Simple
      rows={rows}
      columns={[
        ["project", t("jobs.project")],
        ["cards", t("jobs.cards")],
        ["span", t("grants.span")],
        ["by", t("grants.by")],
        ["reason", t("audit.why")],
        ["state", t("jobs.status")],
        ["decide", t("grants.decision")],
      ]}
    />
  );
}

function Decide({ grant }: { grant: Schemas["GrantRequest"] }) {
  const { t } = useWords();
  const may = useMay();
  const act = useAct((approve: boolean) =>
    take(
      api.POST("/api/v1/grants/{grant}/decide", { params: { path: { grant: grant.id } }, body: { approve, note: "" } }),
    ),
  );
  if (!may.operate) return <span className="quiet">{t("grants.who")}</span>;
  if (grant.requested_by === may.user) return <span className="quiet">{t("grants.own")}</span>;
  return (
    <span className="row">
      <Button size="small" type="primary" loading={act.isPending} onClick={() => act.mutate(true)}>
        {t("grants.approve")}
      </Button>
      <Button size="small" onClick={() => act.mutate(false)}>
        {t("grants.deny")}
      </Button>
    </span>
  );
}

interface Asked {
  project: string;
  device_type: string;
  devices: number;
  ends: Dayjs;
  reason: string;
}

function Asking({ shown, hide }: { shown: boolean; hide: () => void }) {
  const { t } = useWords();
  const [form] = Form.useForm<Asked>();
  const all = useQuery(projects());
  const machines = useQuery(nodes());
  const types = [...new Set((machines.data ?? []).map(({ node }) => node.device_type))].sort();
  const act = useAct((body: Schemas["NewGrant"]) => take(api.POST("/api/v1/grants", { body })), hide);
  const required = [{ required: true, message: t("form.required") }];
  return (
    <Modal
      open={shown}
      onCancel={hide}
      title={t("grants.ask")}
      okText={t("grants.send")}
      cancelText={t("action.cancel")}
      okButtonProps={{ loading: act.isPending }}
      onOk={() => form.submit()}
    >
      <Form
        form={form}
        layout="vertical"
        onFinish={(asked) => act.mutate({ ...asked, ends: asked.ends.toISOString() })}
      >
        <Form.Item name="project" label={t("jobs.project")} rules={required}>
          <Select options={(all.data ?? []).map(({ name }) => ({ value: name, label: name }))} />
        </Form.Item>
        <Form.Item name="device_type" label={t("jobs.type")} rules={required}>
          <Select options={types.map((value) => ({ value, label: value }))} />
        </Form.Item>
        <Form.Item name="devices" label={t("jobs.cards")} rules={required}>
          <InputNumber min={1} precision={0} />
        </Form.Item>
        <Form.Item name="ends" label={t("grants.ends")} rules={required}>
          <DatePicker showTime />
        </Form.Item>
        <Form.Item name="reason" label={t("audit.why")} rules={required}>
          <Input.TextArea rows={2} />
        </Form.Item>
      </Form>
    </Modal>
  );
}
