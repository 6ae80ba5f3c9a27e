// Which schema the bytes of a call have, and where its JSON path is.

import { getOption, type DescMethod, type DescService } from "@bufbuild/protobuf";
import { DevelopmentToolService } from "#gen/agena/devtool/v1/service_pb";
import { http } from "#gen/google/api/annotations_pb";
import type { HttpRule } from "#gen/google/api/http_pb";

const SERVICES: readonly DescService[] = [DevelopmentToolService];

export function methodOf(service: string, method: string): DescMethod | undefined {
  return SERVICES.find((one) => one.typeName === service)?.methods.find((one) => one.name === method);
}

export function ruleOf(method: DescMethod): HttpRule | undefined {
  const rule = getOption(method, http);
  return rule.pattern.case === undefined ? undefined : rule;
}
