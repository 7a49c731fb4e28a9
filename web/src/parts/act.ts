/** A change asked of the server: told when it is refused, what it touched is asked for again. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { App } from "antd";
import { Problem } from "../api/problem";

/** Runs a change; `done` is said when it has happened. */
export function useAct<V, T>(change: (value: V) => Promise<T>, done?: (answer: T) => void) {
  const queries = useQueryClient();
  const { message } = App.useApp();
  return useMutation({
    mutationFn: change,
    onSuccess: (answer) => {
      void queries.invalidateQueries();
      done?.(answer);
    },
    onError: (error) => {
      const hint = error instanceof Problem && error.hint ? ` ${error.hint}` : "";
      void message.error(`${error.message}${hint}`, 8);
    },
  });
}
