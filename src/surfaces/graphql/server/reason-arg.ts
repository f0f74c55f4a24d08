import { Arg } from 'type-graphql';

/** The argument `reason` of a mutation, which the audit log stores. */
export function ReasonArg(): ReturnType<typeof Arg> {
  return Arg('reason', () => String, { description: 'Reason for the audit log.' });
}
