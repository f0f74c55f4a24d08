import type { KeyScope } from './generated/graphql.ts';
import { scopeChoices } from './generated/key-scopes.ts';

/** The permissions that a form chose, from its text. */
export function chosenScopes(text: string): KeyScope[] {
  const chosen = text.split(',');
  return scopeChoices.map(([scope]) => scope).filter((scope) => chosen.includes(scope));
}
