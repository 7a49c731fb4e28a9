/** What every canvas of the console shares with the page around it. */

/** The page's own letters, so that a canvas does not stand out of it. */
export function fontOf(context: CanvasRenderingContext2D, size = 12, weight = 400): string {
  return `${weight} ${size}px ${getComputedStyle(context.canvas).fontFamily || "system-ui, sans-serif"}`;
}
