// How long the tasks of a page's main thread took: by the processor and by the clock. The clock alone would also count the
// time in which other programs had the core.

const CATEGORIES = ["disabled-by-default-devtools.timeline", "devtools.timeline"];

/** Runs `act` and returns the tasks meanwhile, in milliseconds, the longest first. */
export async function tasksOf(page, act) {
  const session = await page.context().browser().newBrowserCDPSession();
  const events = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  await session.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories: CATEGORIES } });
  await act();
  // Tells the thread of this page from those of others.
  const mark = `tasks-${process.hrtime.bigint()}`;
  await page.evaluate((name) => console.timeStamp(name), mark);
  const complete = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
  await session.send("Tracing.end");
  await complete;
  await session.detach();
  const marked = events.find(({ name, args }) => name === "TimeStamp" && args.data?.message === mark);
  const own = events.filter(({ name, ph, pid, tid }) => name === "RunTask" && ph === "X" && pid === marked.pid && tid === marked.tid);
  const tasks = own.map(({ dur, tdur, ts }) => ({ clock: dur / 1_000, cpu: tdur / 1_000, from: ts, to: ts + dur, within: [] }));
  for (const task of tasks) if (task.cpu > 20) task.within = inside(events, marked, task);
  return tasks.sort((a, b) => b.cpu - a.cpu);
}

/** What took the time in a task. */
function inside(events, { pid, tid }, { from, to }) {
  const parts = events.filter((event) => event.pid === pid && event.tid === tid && event.ph === "X" && event.name !== "RunTask");
  const own = parts.filter(({ ts, dur }) => ts >= from && ts + dur <= to && dur > 5_000);
  return own.map(({ name, tdur, args }) => `${name} ${(tdur / 1_000).toFixed(0)} ${args.data?.functionName ?? ""}`);
}
