// What the user allowed or refused for good, and how to take it back.

import { useEffect, useState } from "preact/hooks";
import { ConfirmationOptionKind } from "#gen/agena/devtool/v1/tool_call_pb";
import type { Rule } from "#gen/agena/devtool/v1/service_pb";
import { announce, complain } from "../state/announce";
import { contexts } from "../state/tasks";
import { devtool } from "../wire/client";
import { problemOf } from "../wire/errors";

async function allRules(): Promise<Rule[]> {
  const found: Rule[] = [];
  let pageToken = "";
  do {
    const page = await devtool.listRules({ pageToken, pageSize: 100 });
    found.push(...page.rules);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return found;
}

export function Rules() {
  const [rules, setRules] = useState<Rule[]>();
  const load = () => allRules().then(setRules, (error: unknown) => complain(problemOf(error).message));
  useEffect(() => void load(), []);
  const revoke = async ({ contextId, ruleId, subject }: Rule) => {
    try {
      await devtool.revokeRule({ contextId, ruleId });
      announce(`Revoked: ${subject}`);
    } catch (error) {
      complain(problemOf(error).message);
    }
    await load();
  };
  return (
    <section aria-label="Always rules">
      <h3>Always</h3>
      {rules === undefined && <p class="dim">Loading…</p>}
      {rules?.length === 0 && <p class="dim">Nothing is allowed or refused for good. An approval may offer it.</p>}
      <ul class="rules">
        {rules?.map((rule) => (
          <li key={rule.ruleId}>
            <span>
              {rule.kind === ConfirmationOptionKind.REJECT_ALWAYS ? "Always refused: " : "Always allowed: "}
              <code>{rule.subject}</code>
              <span class="dim">in {titleOf(rule.contextId)}</span>
            </span>
            <button type="button" class="small" aria-label={`Revoke ${rule.subject}`} onClick={() => void revoke(rule)}>
              Revoke
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function titleOf(contextId: string): string {
  return contexts.value.find((context) => context.contextId === contextId)?.title ?? contextId;
}
