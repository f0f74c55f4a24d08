/** A member that an action changed, with its values as text; null where it was absent. */
export interface Change {
  readonly member: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** The members in which two JSON objects differ. Text that is no object counts as empty. */
export function changesOf(before: string | null, after: string | null): Change[] {
  const [old, young] = [membersOf(before), membersOf(after)];
  const names = [...new Set([...old.keys(), ...young.keys()])];
  return names
    .map((member) => ({ member, before: old.get(member) ?? null, after: young.get(member) ?? null }))
    .filter((change) => change.before !== change.after);
}

function membersOf(json: string | null): Map<string, string> {
  const parsed: unknown = json === null ? null : JSON.parse(json);
  if (typeof parsed !== 'object' || parsed === null) return new Map();
  return new Map(
    Object.entries(parsed).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
}
