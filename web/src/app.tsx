/** The console: words, colours, queries, live facts and routes around one another. */

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { App, ConfigProvider } from "antd";
import enUS from "antd/locale/en_US";
import zhCN from "antd/locale/zh_CN";
import { LiveProvider } from "./api/live";
import { Problem } from "./api/problem";
import "./design/console.css";
import { SchemeProvider, useScheme } from "./design/scheme";
import { themeOf } from "./design/tokens";
import { useWords, WordsProvider } from "./i18n/words";
import { makeRouter } from "./router";

/** Refusals are answers; only what may pass is asked again. */
export function makeQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 2000,
        retry: (count, error) => count < 2 && error instanceof Problem && error.isUnreachable,
        refetchIntervalInBackground: false,
      },
    },
  });
}

const queries = makeQueries();
const router = makeRouter(queries);

export function Root() {
  return (
    <WordsProvider>
      <SchemeProvider>
        <QueryClientProvider client={queries}>
          <Dressed>
            <LiveProvider>
              <RouterProvider router={router} />
            </LiveProvider>
          </Dressed>
        </QueryClientProvider>
      </SchemeProvider>
    </WordsProvider>
  );
}

/** Ant Design in the reader's language and theme. */
export function Dressed({ children }: { children: React.ReactNode }) {
  const { language } = useWords();
  const { scheme } = useScheme();
  return (
    <ConfigProvider
      locale={language === "zh" ? zhCN : enUS}
      theme={themeOf(scheme)}
      button={{ autoInsertSpace: false }}
    >
      <App style={{ height: "100%" }}>{children}</App>
    </ConfigProvider>
  );
}
