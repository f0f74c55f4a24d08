import { keyScopes } from '../../../src/accounts/partners/key-scope.ts';
import { scopeName } from '../../../src/surfaces/graphql/server/enumerations.ts';
import { chosenScopes } from '../../../web/console/key-scopes.ts';

describe('the form of a key in the console', () => {
  it('keeps every scope that the key has', () => {
    const held = keyScopes.map((scope) => scopeName(scope).toUpperCase());
    expect(chosenScopes(held.join(','))).toEqual(held);
  });
});
