/** Signing in, with a name and a password or with a token; the address stays, so the page asked for opens after it. */

import { Alert, Button, Form, Input, Segmented } from "antd";
import { useState } from "react";
import { api, take } from "../api/client";
import { Problem } from "../api/problem";
import { signIn } from "../api/session";
import { useWords } from "../i18n/words";

interface Filled {
  user?: string;
  password?: string;
  token?: string;
}

/** A token that opens something, from what was typed. Raises a `Problem`. */
export async function tokenFor(filled: Filled): Promise<string> {
  if (filled.token) {
    const typed = filled.token.trim();
    await take(api.GET("/api/v1/me", { headers: { Authorization: `Bearer ${typed}` } }));
    return typed;
  }
  const body = { user: filled.user ?? "", password: filled.password ?? "" };
  return (await take(api.POST("/api/v1/login", { body }))).token;
}

export function SignIn({ expired }: { expired: boolean }) {
  const { t } = useWords();
  const [way, setWay] = useState<"password" | "token">("password");
  const [refused, setRefused] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const send = async (filled: Filled) => {
    setBusy(true);
    try {
      signIn(await tokenFor(filled));
    } catch (error) {
      setRefused(error instanceof Problem ? error : new Problem(-1, { detail: String(error) }));
    } finally {
      setBusy(false);
    }
  };
  return (
    <main className="page stack" style={{ maxWidth: 380, margin: "10vh auto 0" }}>
      <h1>{t("sign-in.title")}</h1>
      {expired ? <Alert type="info" showIcon title={t("sign-in.expired")} /> : null}
      <Segmented
        aria-label={t("sign-in.way")}
        value={way}
        onChange={setWay}
        options={[
          { value: "password", label: t("sign-in.password-way") },
          { value: "token", label: t("sign-in.token-way") },
        ]}
      />
      {refused ? (
        <Alert
          type="error"
          showIcon
          title={refused.isUnreachable ? t("state.down") : refused.message}
          description={refused.hint}
        />
      ) : null}
      <Form layout="vertical" onFinish={send} requiredMark={false}>
        {way === "password" ? (
          <>
            <Form.Item name="user" label={t("sign-in.user")} rules={[{ required: true, message: t("form.required") }]}>
              <Input autoComplete="username" autoFocus />
            </Form.Item>
            <Form.Item
              name="password"
              label={t("sign-in.password")}
              rules={[{ required: true, message: t("form.required") }]}
            >
              <Input.Password autoComplete="current-password" />
            </Form.Item>
          </>
        ) : (
          <Form.Item
            name="token"
            label={t("sign-in.token")}
            extra={t("sign-in.token-help")}
            rules={[{ required: true, message: t("form.required") }]}
          >
            <Input.Password autoComplete="off" autoFocus />
          </Form.Item>
        )}
        <Button type="primary" htmlType="submit" block loading={busy}>
          {t("sign-in.submit")}
        </Button>
      </Form>
    </main>
  );
}
