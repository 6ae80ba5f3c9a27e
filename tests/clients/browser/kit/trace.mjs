// How long the tasks of a page's main thread took: by the processor and by the clock. The clock alone would also count
// the time in which other programs had the core.

const CATEGORIES = ["disabled-by-default-devtools.timeline", "devtools.timeline"];

/** Runs `act` and returns the tasks meanwhile, in milliseconds, the longest first. */
export async function tasksOf(page, act) {
  const session = await page.context().browser().newBrowserCDPSession();
  const events = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  await session.send("Tracing.start", {
    transferMode: "ReportEvents",
    traceConfig: { includedCategories: CATEGORIES },
  });
  await act();
  // Tells the thread of this page from those of others.
  const mark = `tasks-${process.hrtime.bigint()}`;
  await page.evaluate((name) => console.timeStamp(name), mark);
  const complete = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
  await session.send("Tracing.end");
  await complete;
  await session.detach();
  const marked = events.find(({ name, args }) => name === "TimeStamp" && args.data?.message === mark);
  const own = events.filter(
    ({ name, ph, pid, tid }) => name === "RunTask" && ph === "X" && pid === marked.pid && tid === marked.tid,
  );
  return own.map(({ dur, tdur }) => ({ clock: dur / 1_000, cpu: tdur / 1_000 })).sort((a, b) => b.cpu - a.cpu);
}
