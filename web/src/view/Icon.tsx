// Small drawings. They never stand alone: words say the same beside them, or in the name of the button.

const PATHS = {
  add: "M8 3v10M3 8h10",
  send: "M8 13V3.5M4 7l4-4 4 4",
  stop: "M4.5 4.5h7v7h-7z",
  close: "M4 4l8 8M12 4l-8 8",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  check: "M3 8.5l3.2 3.2L13 5",
  cross: "M4 4l8 8M12 4l-8 8",
  dot: "M8 6.4a1.6 1.6 0 100 3.2 1.6 1.6 0 000-3.2z",
  ask: "M5.8 6a2.2 2.2 0 114 1.3c-.7.8-1.8 1-1.8 2.2M8 12v.3",
  wait: "M8 4v4l2.5 2M8 2a6 6 0 100 12A6 6 0 008 2z",
  run: "M5.5 3.5l6 4.5-6 4.5z",
  wire: "M2 8h3l2-5 3 10 2-5h2",
  settings: "M3 5h6M12 5h1M3 11h1M7 11h6M10.5 3.5v3M5.5 9.5v3",
  theme: "M8 2.5a5.5 5.5 0 105.5 5.5A4.5 4.5 0 018 2.5z",
  help: "M5.8 6a2.2 2.2 0 114 1.3c-.7.8-1.8 1-1.8 2.2M8 12v.3",
  file: "M4 2.5h5l3 3v8H4zM9 2.5v3h3",
  thought: "M8 2.5a4 4 0 00-2 7.5v1.5h4V10a4 4 0 00-2-7.5zM6.5 13.5h3",
  tool: "M10.5 2.5a3 3 0 00-2.8 4L3 11.2 4.8 13l4.7-4.7a3 3 0 003.8-3.8l-1.9 1.9-1.8-1.8z",
  down: "M8 3v9M4 8.5l4 4 4-4",
  chevron: "M6 4l4 4-4 4",
  copy: "M6 6h7v7H6zM3 10V3h7",
  chart: "M3 13V8M8 13V3M13 13V6",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
