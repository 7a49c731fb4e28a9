/** Lines over time, drawn by ECharts: only the parts that are used. */

import { LineChart } from "echarts/charts";
import { DataZoomComponent, GridComponent, LegendComponent, TooltipComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import { useEffect, useRef } from "react";
import { useScheme } from "../../design/scheme";
import type { ChartProps } from "./LazyChart";
import { measured } from "./metrics";

use([LineChart, GridComponent, TooltipComponent, LegendComponent, DataZoomComponent, CanvasRenderer]);

export default function Chart({ lines, metric }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const { ink } = useScheme();
  useEffect(() => {
    if (!box.current) return;
    const told = (value: number) => measured(metric, value);
    const chart = init(box.current);
    const observer = new ResizeObserver(() => chart.resize());
    observer.observe(box.current);
    const axis = { axisLabel: { color: ink.quiet }, axisLine: { lineStyle: { color: ink.line } } };
    chart.setOption({
      textStyle: { fontFamily: getComputedStyle(box.current).fontFamily },
      animation: false,
      grid: { left: 84, right: 16, top: 40, bottom: 56 },
      tooltip: {
        trigger: "axis",
        order: "valueDesc",
        confine: true,
        extraCssText: "max-height: 320px; overflow: hidden auto;",
        backgroundColor: ink.raised,
        borderColor: ink.line,
        textStyle: { color: ink.text },
        valueFormatter: (value: unknown) => (typeof value === "number" ? told(value) : "—"),
      },
      legend: { type: "scroll", top: 4, textStyle: { color: ink.text }, show: lines.length > 1 },
      dataZoom: [{ type: "inside" }, { type: "slider", height: 16, bottom: 8 }],
      xAxis: { type: "time", ...axis },
      yAxis: {
        type: "value",
        scale: true,
        splitLine: { lineStyle: { color: ink.line } },
        ...axis,
        axisLabel: { ...axis.axisLabel, formatter: told },
      },
      series: lines.map(({ name, points }) => ({
        type: "line",
        name,
        data: points,
        showSymbol: points.length < 3,
        color: lines.length === 1 ? ink.accent : undefined,
        sampling: "lttb",
        lineStyle: { width: 1.5 },
      })),
    });
    return () => {
      observer.disconnect();
      chart.dispose();
    };
  }, [lines, metric, ink]);
  return <div ref={box} style={{ height: 360 }} />;
}
