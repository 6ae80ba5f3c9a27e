// Writes gen/licenses.ts: the licences of the packages that become part of dist/, as these ask.

import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
const bundled = Object.entries(packages).filter(([path, { dev, optional }]) => path !== "" && !dev && !optional);

const texts = bundled.filter(([path]) => existsSync(path)).map(([path, { version, license }]) => {
  const file = readdirSync(path).find((name) => /^licen[cs]e/i.test(name));
  const text = file === undefined ? "" : readFileSync(join(path, file), "utf8").trim();
  return `${path.replace(/^.*node_modules\//, "")} ${version} (${license})\n\n${text}\n`;
});

const all = texts.sort().join(`\n${"-".repeat(72)}\n\n`);
writeFileSync("gen/licenses.ts", `export const licenses = ${JSON.stringify(all)};\n`);
