// AGENA_CONSOLE_DIST=web/dist shows that build in the page instead of the one inside the server, with the policy that
// the server gives to its own: to try a change of the console without building the server anew.

import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";

const KINDS = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};
const directory = process.env.AGENA_CONSOLE_DIST;

export async function serveDist(context, origin) {
  if (directory === undefined) return;
  const policy = (await fetch(`${origin}/`)).headers.get("content-security-policy");
  const headers = {
    "content-security-policy": policy,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  };
  const isFile = (url) => url.pathname === "/" || url.pathname.startsWith("/assets/");
  await context.route(isFile, async (route) => {
    const { pathname } = new URL(route.request().url());
    if (route.request().method() !== "GET") return route.fallback();
    const name = pathname === "/" ? "/index.html" : pathname;
    const body = await readFile(join(resolve(directory), name)).catch(() => undefined);
    if (body === undefined) return route.fulfill({ status: 404 });
    return route.fulfill({
      body,
      headers: { ...headers, "content-type": KINDS[name.split(".").at(-1)] ?? "application/octet-stream" },
    });
  });
}
