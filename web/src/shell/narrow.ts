/** Whether there is room for the menu beside the page. */

import { useSyncExternalStore } from "react";

const NARROW = "(max-width: 900px)";

function listen(changed: () => void): () => void {
  const media = window.matchMedia(NARROW);
  media.addEventListener("change", changed);
  return () => media.removeEventListener("change", changed);
}

export function useNarrow(): boolean {
  return useSyncExternalStore(listen, () => window.matchMedia(NARROW).matches);
}
